"""Planted differences between two implementations: is the first layer right, is the cause named, is it proved?"""
