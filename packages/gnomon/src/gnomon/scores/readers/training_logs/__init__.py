"""Files that training writes: monitors and evaluations of Stable-Baselines3."""
