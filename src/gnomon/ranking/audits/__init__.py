"""Audits of score tables: how far an order of algorithms can be believed."""
