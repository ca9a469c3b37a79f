"""HTML from templates, SVG charts, and the cache of rendered pages."""
