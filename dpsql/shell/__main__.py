"""``python -m dpsql.shell`` is ``dpsql``."""

import sys

from dpsql.shell import main

sys.exit(main())
