"""A local server through which coding assistants use paramedic: each tool is a command, in a process of its own."""
