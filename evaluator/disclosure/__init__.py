"""What is shown of scores while their gold is hidden, and how much that tells.

`policy`: the disclosure policies; `rounding`: the steps to which numbers are rounded; `ladder`: the Ladder mechanism;
`bits`: how much the shown numbers tell, and what follows from it; `attacks`: what participants learn who try. Only
`attacks` needs NumPy.
"""
