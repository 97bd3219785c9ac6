"""``python -m onmt_preorder``: the command without its script."""

import sys

from onmt_preorder.cli import main

sys.exit(main())
