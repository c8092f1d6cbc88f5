"""The desktop app: tray, search window and everything else a person sees. Qt lives here and nowhere else."""
