// Package network says which hosts may be reached, and reaches them. Its rules
// hold for the commands of a sandbox, through the proxy in the package below,
// and for tools that read web pages.
//
// A host is parsed once, by [Parse], which accepts only the plain forms of a
// name or an address. The same value is matched with rules, looked up and
// dialled, so that no two parsers can disagree. A name's addresses are checked
// after they are looked up, and the address that was checked is the one that is
// dialled: a name that is allowed cannot lead to this machine, its network or
// its cloud's metadata.
package network
