"""One file per task: how its samples are drawn, what nobody can know better, its rungs."""
