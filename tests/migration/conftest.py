"""Makes `migration_world` importable for the tests in this folder: pytest adds the folder of a conftest."""
