"""Rules of the family PM8: several processes that train one model."""
