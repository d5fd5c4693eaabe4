"""Makes `knative_objects` importable for the tests in the folders below: pytest adds the folder of a conftest."""
