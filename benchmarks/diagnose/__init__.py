"""How often `paramedic diagnose` names the right cause."""
