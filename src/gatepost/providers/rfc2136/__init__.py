"""The provider rfc2136: any DNS server that takes dynamic updates and gives its zones by transfer.

In: changes of records. Out: update messages (RFC 2136), signed with TSIG (RFC 8945); zones read by AXFR (RFC 5936), and
followed by IXFR (RFC 1995). Each message carries, as prerequisites, what gatepost believes to be there: the server
makes the change only if nobody else has changed the record or its ownership record meanwhile.
Never: GSS-TSIG, which would need Kerberos; a listing with a part missing; half of the changes of one name.
Read `provider.py` first.
"""
