"""What others take along: citations, archives of seasons, feeds, badges, pictures of links."""
