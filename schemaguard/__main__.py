"""`python -m schemaguard`."""

from schemaguard.cli import main

raise SystemExit(main())
