"""The numbers of the paper, counted again from the released files alone. Rules only, no files, no database.

Source: H. Yukhymenko, R. Staab, M. Vero, M. Vechev, A Synthetic Dataset for Personal Attribute Inference,
arXiv 2406.07217. Each module counts one part of it; `comparing` sets ours beside what was expected.
"""
