"""One file per thing watched. Each has a class with an `install` that hooks it into torch through the watcher."""
