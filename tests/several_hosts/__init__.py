"""Three hosts of one site, as network namespaces on this machine, and the faults that they must withstand.

`python -m tests.several_hosts --submissions 300` runs it (as root): clients submit through the proxy while hosts are
killed, frozen and cut off, and services are restarted, wiped and hung. At the end every accepted submission must have
one result, and figures are printed.
"""
