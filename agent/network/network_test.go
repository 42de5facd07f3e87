package network

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// The result of a table's row: the host is reached, or the reason why not.
const reached Reason = ""

func rulesFor(t *testing.T, s Settings) *Rules {
	t.Helper()
	r, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func reasonOf(t *testing.T, err error) Reason {
	t.Helper()
	var refusal *Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Fatalf("not a refusal: %v", err)
	}
	if refusal == nil {
		return reached
	}
	return refusal.Reason
}

// hosts is the table of TestHosts.
var hosts = []struct {
	host string
	want Reason
}{
	{"example.com:443", reached},
	{"example.com:80", reached},
	{"EXAMPLE.com:443", reached},
	{"mixed.example:443", reached},
	{"a.example.org:443", reached},
	{"a.b.example.org:443", reached},
	{"api.example.net:8443", reached},
	{"any.example.net:22", reached},
	{"xn--bcher-kva.example:443", reached},
	{"93.184.216.34:443", reached},
	{"[::ffff:93.184.216.34]:443", reached},
	{"10.2.0.1:443", reached},
	{"[2606:4700::1]:9", reached},
	{"[2606:4700:0:0::1]:9", reached},
	{"[2606:4700::2]:443", reached},
	{"dev.example:3000", reached},
	{"[fd01:0:1::1]:443", reached},
	{"[fd02:0:1::1]:22", reached},

	{"example.com:22", Port},
	{"api.example.net:443", Port},
	{"93.184.216.34:8080", Port},
	{"[2606:4700::2]:22", Port},
	{"dev.example:443", Port},
	{"10.1.0.1:443", Port},
	{"[fd02:0:1::1]:443", Port},

	{"secret.example.org:443", Denied},
	{"SECRET.example.org:443", Denied},
	{"secret.example.org:8080", Denied},
	{"a.deep.example.org:443", Denied},
	{"any.example.net:25", Denied},
	{"10.2.9.9:443", Denied},
	{"[::ffff:10.2.9.9]:443", Denied},

	{"evil.example:443", Unlisted},
	{"example.com.evil.example:443", Unlisted}, // begins like it
	{"evilexample.com:443", Unlisted},          // ends like it
	{"example.community:443", Unlisted},
	{"evil-example.org:443", Unlisted},
	{"example.org:443", Unlisted}, // not below itself
	{"www.example.com:443", Unlisted},
	{"exampl.com:443", Unlisted},
	{"com:443", Unlisted},
	{"xn--bcher-kva.example.evil:443", Unlisted},
	{"xn--xample-9uf.com:443", Unlisted}, // looks like example.com
	{"localhost:443", Unlisted},
	{"127.0.0.1:443", Unlisted},
	{"0.0.0.0:443", Unlisted},
	{"[::]:443", Unlisted},
	{"[::1]:443", Unlisted},
	{"[::ffff:127.0.0.1]:443", Unlisted},
	{"[::127.0.0.1]:443", Unlisted},
	{"169.254.169.254:80", Unlisted},
	{"[fd00:ec2::254]:80", Unlisted},
	{"10.3.0.1:443", Unlisted},
	{"metadata.google.internal:80", Unlisted},

	{"example.com", Malformed}, // no port
	{"example.com:", Malformed},
	{"example.com:0", Malformed},
	{"example.com:65536", Malformed},
	{"example.com:+443", Malformed},
	{"example.com:0443", Malformed},
	{"example.com:443:443", Malformed},
	{"example.com:http", Malformed},
	{"example.com.:443", Malformed},
	{".example.com:443", Malformed},
	{"a..example.org:443", Malformed},
	{"", Malformed},
	{":443", Malformed},
	{"evil.example\x00.example.org:443", Malformed},
	{"evil.example%00.example.org:443", Malformed},
	{"evil.example%2eexample.org:443", Malformed},
	{"user@example.com:443", Malformed},
	{"example.com@evil.example:443", Malformed},
	{"example.com:443@evil.example", Malformed},
	{"evil.example/example.com:443", Malformed},
	{"evil.example\\.example.org:443", Malformed},
	{"evil.example#.example.org:443", Malformed},
	{"evil.example?.example.org:443", Malformed},
	{"evil.example .example.org:443", Malformed},
	{"evil.example\n.example.org:443", Malformed},
	{"evil.example\r\nHost: x.example.org:443", Malformed},
	{"-a.example.org:443", Malformed},
	{"a-.example.org:443", Malformed},
	{"a_b.example.org:443", Malformed},
	{"*.example.org:443", Malformed},
	{"exаmple.com:443", Malformed}, // a Cyrillic letter
	{"example。com:443", Malformed},
	{"bücher.example:443", Malformed},
	{"１２７.0.0.1:443", Malformed}, // full-width digits
	{"2130706433:443", Malformed},
	{"0x7f000001:443", Malformed},
	{"0x7f.1:443", Malformed},
	{"0177.0.0.1:443", Malformed},
	{"127.1:443", Malformed},
	{"127.0.0.1.:443", Malformed},
	{"1.2.3.4.5:443", Malformed},
	{"[::1%lo]:443", Malformed},
	{"[fe80::1%25eth0]:443", Malformed},
	{"::1:443", Malformed},
	{"[example.com]:443", Malformed},
	{"[127.0.0.1]:443", Malformed},
	{"[::1:443", Malformed},
	{"[::1]443", Malformed},
	{strings.Repeat("a", 64) + ".example.org:443", Malformed},
	{strings.Repeat("a.", 125) + "example.org:443", Malformed},
}

// Published defects of other programs are among the rows: a trusted domain
// compared by its beginning, a NUL byte that ended the name for the next reader,
// an empty list that meant everything.
//
// K-17.
func TestHosts(t *testing.T) {
	t.Parallel()
	rules := rulesFor(t, Settings{
		AllowedDomains: []string{
			"example.com", "*.example.org", "api.example.net:8443", "any.example.net:*", "xn--bcher-kva.example",
			"93.184.216.34", "10.1.0.0/16:5432", "10.2.0.0/16", "[2606:4700::1]:*", "2606:4700::2", "fd01::/32", "[fd02::/32]:22", "Mixed.Example", "dev.example:3000",
		},
		DeniedDomains: []string{"secret.example.org", "*.deep.example.org", "any.example.net:25", "10.2.9.9"},
	})
	for _, row := range hosts {
		target, err := Parse(row.host, 0)
		if err == nil {
			err = rules.Check(target)
		}
		if got := reasonOf(t, err); got != row.want {
			t.Errorf("%q: %q instead of %q", row.host, got, row.want)
		}
	}
}

func TestNothingIsAllowedWithoutARule(t *testing.T) {
	t.Parallel()
	target, err := Parse("example.com:443", 0)
	if err != nil {
		t.Fatal(err)
	}
	none, _ := New(Settings{AllowedDomains: []string{}})
	unset, _ := New(Settings{DeniedDomains: []string{"evil.example"}, AllowLocalBinding: true})
	for name, rules := range map[string]*Rules{"nil": nil, "zero": {}, "empty": none, "unset": unset} {
		if got := reasonOf(t, rules.Check(target)); got != Closed || rules.Any() || rules.Local() {
			t.Errorf("%s rules: %q, any %v, local %v", name, got, rules.Any(), rules.Local())
		}
	}
}

// This computer is denied under all its names if it is under one.
func TestThisComputerIsDenied(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		denied, host string
		want         Reason
	}{
		{"127.0.0.1", "localhost:80", Denied},
		{"127.0.0.1", "[::1]:80", Denied},
		{"::1", "127.0.0.1:80", Denied},
		{"localhost", "127.0.0.1:80", Denied},
		{"localhost", "127.8.8.8:80", Denied},
		{"127.0.0.0/8", "localhost:80", Denied},
		{"127.0.0.1:443", "localhost:443", Denied},
		{"127.0.0.1:443", "localhost:80", reached},
		{"127.8.8.8", "localhost:80", reached},
		{"10.0.0.1", "localhost:80", reached},
	} {
		rules := rulesFor(t, Settings{AllowedDomains: []string{"localhost", "127.0.0.0/8", "::1"}, DeniedDomains: []string{row.denied}})
		target, err := Parse(row.host, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := reasonOf(t, rules.Check(target)); got != row.want {
			t.Errorf("%s is denied, %s: %q instead of %q", row.denied, row.host, got, row.want)
		}
	}
}

// An entry that cannot be read is reported. If it would deny, nothing is allowed
// until it is mended.
func TestUnreadableEntries(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{
		"", "*", "*.com", "*.", "**.example.com", "a.*.com", "https://example.com", "example.com/", "example.com.", "example.com:0",
		"example.com:x", "bücher.example", "user@example.com", "10.0.0.0/33", "::ffff:10.0.0.0/104", "*.10.0.0.1", "127.1", "[::1%lo]", "a b",
	} {
		r, err := New(Settings{AllowedDomains: []string{entry, "example.com"}})
		if err == nil || !strings.Contains(err.Error(), "allowedDomains") {
			t.Errorf("allowed %q: %v", entry, err)
		}
		if len(r.allowed) != 1 || !r.Any() {
			t.Errorf("allowed %q: the other entry is lost", entry)
		}
		r, err = New(Settings{AllowedDomains: []string{"example.com"}, DeniedDomains: []string{entry}})
		if err == nil {
			t.Errorf("denied %q: no error", entry)
		}
		target, _ := Parse("example.com:443", 0)
		if got := reasonOf(t, r.Check(target)); got != Unreadable || r.Any() {
			t.Errorf("denied %q: %q", entry, got)
		}
	}
}

// A name is judged by where it leads.
func TestAddressesOfNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		settings Settings
		addrs    []string
		want     Reason
		dialled  int // how many of the addresses may be
	}{
		{"public", Settings{}, []string{"93.184.216.34", "2606:4700::1"}, reached, 2},
		{"rebound to this computer", Settings{}, []string{"127.0.0.1"}, Local, 0},
		{"the rest of 127/8", Settings{}, []string{"127.8.8.8"}, Local, 0},
		{"IPv6 loopback", Settings{}, []string{"::1"}, Local, 0},
		{"mapped loopback", Settings{}, []string{"::ffff:127.0.0.1"}, Local, 0},
		{"unspecified", Settings{}, []string{"0.0.0.0"}, Private, 0},
		{"IPv6 unspecified", Settings{}, []string{"::"}, Private, 0},
		{"IPv4-compatible", Settings{}, []string{"::127.0.0.1"}, Private, 0},
		{"private A", Settings{}, []string{"10.0.0.1"}, Private, 0},
		{"private B", Settings{}, []string{"172.31.255.255"}, Private, 0},
		{"private C", Settings{}, []string{"192.168.1.1"}, Private, 0},
		{"shared", Settings{}, []string{"100.100.100.200"}, Private, 0},
		{"metadata", Settings{}, []string{"169.254.169.254"}, Private, 0},
		{"mapped metadata", Settings{}, []string{"::ffff:169.254.169.254"}, Private, 0},
		{"translated metadata", Settings{}, []string{"64:ff9b::a9fe:a9fe"}, Private, 0},
		{"translated public", Settings{}, []string{"64:ff9b::5db8:d822"}, reached, 1},
		{"6to4", Settings{}, []string{"2002:7f00:1::"}, Private, 0},
		{"Teredo", Settings{}, []string{"2001::1"}, Private, 0},
		{"Azure", Settings{}, []string{"168.63.129.16"}, Private, 0},
		{"IPv6 metadata", Settings{}, []string{"fd00:ec2::254"}, Private, 0},
		{"link-local", Settings{}, []string{"fe80::1"}, Private, 0},
		{"link-local with a zone", Settings{}, []string{"fe80::1%eth0"}, Private, 0},
		{"public with a zone", Settings{}, []string{"2606:4700::1%eth0"}, Private, 0},
		{"multicast", Settings{}, []string{"224.0.0.1"}, Private, 0},
		{"broadcast", Settings{}, []string{"255.255.255.255"}, Private, 0},
		{"some of both", Settings{}, []string{"10.0.0.1", "93.184.216.34", "127.0.0.1"}, reached, 1},
		{"local allowed", Settings{AllowLocalBinding: true}, []string{"127.0.0.1", "::1"}, reached, 2},
		{"local allowed, private not", Settings{AllowLocalBinding: true}, []string{"192.168.1.1"}, Private, 0},
		{"local allowed, metadata not", Settings{AllowLocalBinding: true}, []string{"169.254.169.254"}, Private, 0},
		{"block written", Settings{AllowedDomains: []string{"10.0.0.0/8"}}, []string{"10.0.0.1", "192.168.1.1"}, reached, 1},
		{"block written for another port", Settings{AllowedDomains: []string{"10.0.0.0/8:22"}}, []string{"10.0.0.1"}, Private, 0},
		{"loopback written", Settings{AllowedDomains: []string{"127.0.0.1"}}, []string{"127.0.0.1", "127.0.0.2"}, reached, 1},
		{"public denied", Settings{DeniedDomains: []string{"93.184.0.0/16"}}, []string{"93.184.216.34"}, Denied, 0},
		{"denied over written", Settings{AllowedDomains: []string{"10.0.0.0/8"}, DeniedDomains: []string{"10.0.0.1"}}, []string{"10.0.0.1"}, Denied, 0},
	} {
		row.settings.AllowedDomains = append(row.settings.AllowedDomains, "name.example")
		dialer := Dialer{Rules: rulesFor(t, row.settings), Lookup: answer(row.addrs...)}
		target, err := Parse("name.example:443", 0)
		if err != nil {
			t.Fatal(err)
		}
		addrs, err := dialer.addresses(t.Context(), target)
		if got := reasonOf(t, err); got != row.want || len(addrs) != row.dialled {
			t.Errorf("%s: %q, %v", row.name, got, addrs)
		}
	}
}

func answer(addrs ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) (out []netip.Addr, _ error) {
		for _, addr := range addrs {
			out = append(out, netip.MustParseAddr(addr))
		}
		return out, nil
	}
}

// The address that was checked is the one that is dialled: the name is looked up
// once, so that a second answer cannot lead elsewhere.
func TestTheCheckedAddressIsDialled(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := netip.MustParseAddrPort(listener.Addr().String()).Port()
	lookups := 0
	dialer := Dialer{
		Rules: rulesFor(t, Settings{AllowedDomains: []string{"name.example:*"}, AllowLocalBinding: true}),
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			if lookups++; lookups > 1 {
				return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	}
	target, err := NewTarget("name.example", port)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := dialer.Dial(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.RemoteAddr().String() != listener.Addr().String() || lookups != 1 {
		t.Errorf("dialled %s after %d lookups", conn.RemoteAddr(), lookups)
	}
	if _, err := dialer.Dial(t.Context(), target); reasonOf(t, err) != Private {
		t.Errorf("the second answer: %v", err)
	}
}

func TestRefusalsTellNoSecrets(t *testing.T) {
	t.Parallel()
	_, err := Parse("user:password@evil.example\x1b]52;c;eA\a:443", 0)
	want := "...@evil.example?]52;c;eA?:443 is not a plain host name or address"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	_, err = Parse(strings.Repeat("a b", 1000), 1)
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("%v", err)
	}
}

// FuzzParse checks that whatever is accepted has one form, which contains
// nothing that another parser could read differently.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"example.com:443", "[::1]:80", "[::ffff:1.2.3.4]:1", "a@b:1", "127.1:1", "x\x00y:1", "[fe80::1%a]:1", "1.2.3.4:5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := Parse(text, 0)
		if err != nil {
			if len(err.Error()) > 200 || strings.ContainsFunc(err.Error(), func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Errorf("the error for %q is %q", text, err)
			}
			return
		}
		again, err := Parse(target.String(), 0)
		if err != nil || again != target {
			t.Errorf("%q became %s, which became %v, %v", text, target, again, err)
		}
		if !strings.EqualFold(target.String(), text) && !strings.HasPrefix(text, "[") {
			t.Errorf("%q became %s", text, target)
		}
		host, _, err := net.SplitHostPort(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if addr, err := netip.ParseAddr(host); err == nil && addr.Unmap() != target.addr {
			t.Errorf("%q is the address %s for one parser and %s for the other", text, addr, target)
		}
	})
}
