"""Nights: a model that is trained again each night, on kept rows and those of the day."""
