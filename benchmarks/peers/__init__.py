"""Other estimators that the label-efficiency benchmark compares with; see `peers.environments` for what each is."""
