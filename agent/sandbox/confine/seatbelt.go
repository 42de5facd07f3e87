package confine

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Seat is what macOS needs to know of a command beside its profile.
type Seat struct {
	// Terminal says that the command is on a terminal.
	Terminal bool
	// Port is where the proxy listens on the loopback of this machine.
	Port int
}

// SeatbeltRules returns a profile in the language of macOS's sandbox: what is not
// allowed is denied, and of two rules for the same thing the later one holds. The
// profile's paths must be without links, since the system compares them with
// where a file really is.
func SeatbeltRules(p Profile, seat Seat) (string, error) {
	for _, list := range [][]string{p.Writable, p.Protected, p.Hidden, p.Readable, {p.Temp}} {
		for _, name := range list {
			if strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }) {
				return "", fmt.Errorf("the path %q has characters that a rule cannot contain", name)
			}
		}
	}
	rules := slices.Concat([]string{seatbeltBase}, fileRules(p), networkRules(p, seat))
	if seat.Terminal {
		rules = append(rules, "(allow pseudo-tty)", `(allow file-ioctl (literal "/dev/tty") (regex "^/dev/ttys[0-9]+$"))`)
	}
	return strings.Join(rules, "\n") + "\n", nil
}

// seatbeltBase lets programs start, and talk to each other and to the parts of
// the system that answer questions only. Programs that would start others on
// request, such as Launch Services, are not among them, nor is the keychain.
const seatbeltBase = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow mach-priv-task-port (target same-sandbox))
(allow sysctl-read)
(allow user-preference-read)
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.logd")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow file-read*)
(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))
(allow file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/dtracehelper"))`

// fileRule is a rule about a file or a folder and what is below it.
type fileRule struct {
	path  string
	rank  int // at the same path the higher one holds
	rules []string
}

// fileRules returns the rules about files, those for folders before those for
// what is in them. Allowed paths are written as they are; denied ones match
// upper and lower case, because most Macs do not distinguish them.
func fileRules(p Profile) []string {
	var list []fileRule
	add := func(rank int, name string, rules ...string) { list = append(list, fileRule{name, rank, rules}) }
	if p.Temp != "" {
		add(0, p.Temp, "(allow file-read* file-write* "+subpath(p.Temp)+")")
	}
	for _, name := range p.Writable {
		add(0, name, "(allow file-read* file-write* "+subpath(name)+")")
	}
	for _, name := range p.Readable {
		add(1, name, "(allow file-read* "+subpath(name)+")", "(deny file-write* "+subpath(name)+")")
	}
	for _, name := range p.Protected {
		add(2, name, append([]string{"(deny file-write* " + anyCase(name) + ")"}, pins(p, name)...)...)
	}
	for _, name := range p.Hidden {
		add(3, name, append([]string{"(deny file-read* file-write* " + anyCase(name) + ")"}, pins(p, name)...)...)
	}
	slices.SortStableFunc(list, func(a, b fileRule) int {
		return cmp.Or(strings.Count(a.path, "/")-strings.Count(b.path, "/"), a.rank-b.rank, strings.Compare(a.path, b.path))
	})
	var rules []string
	for _, rule := range list {
		rules = append(rules, rule.rules...)
	}
	return append(rules, ways(p)...)
}

// pins keeps the folders between a writable folder and a path in it from being
// renamed or removed, which would make room for another path.
func pins(p Profile, name string) (rules []string) {
	for dir := path.Dir(name); isBelow(p.Writable, dir); dir = path.Dir(dir) {
		rules = append(rules, "(deny file-write-unlink (literal "+quoted(dir)+"))")
	}
	return rules
}

// ways lets programs find the way to what is visible inside hidden folders.
func ways(p Profile) (rules []string) {
	seen := map[string]bool{}
	for _, name := range slices.Concat(p.Writable, p.Readable) {
		for dir := path.Dir(name); dir != "/" && dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if slices.Contains(p.Hidden, dir) || isBelow(p.Hidden, dir) {
				rules = append(rules, "(allow file-read-metadata (literal "+quoted(dir)+"))")
			}
		}
	}
	return rules
}

// isBelow reports whether a path is below one of some folders.
func isBelow(folders []string, name string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool {
		return strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
	})
}

func networkRules(p Profile, seat Seat) (rules []string) {
	switch {
	case p.Network == NetworkFull:
		rules = append(rules, "(allow network*)", "(allow system-socket)", `(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.SystemConfiguration.configd"))`)
	case p.Network == NetworkProxy && seat.Port > 0:
		rules = append(rules, fmt.Sprintf(`(allow network-outbound (remote ip "localhost:%d"))`, seat.Port))
	}
	if p.Network != NetworkNone {
		rules = append(rules, `(allow mach-lookup (global-name "com.apple.trustd.agent"))`) // checks certificates
	}
	if p.LocalBinding && p.Network != NetworkFull {
		rules = append(rules, `(allow network-bind (local ip "localhost:*"))`, `(allow network-inbound (local ip "localhost:*"))`,
			`(allow network-outbound (remote ip "localhost:*"))`)
	}
	if p.Sockets == SocketsAll {
		rules = append(rules, "(allow system-socket (socket-domain AF_UNIX))",
			`(allow network-bind (local unix-socket (path-regex "^/")))`, `(allow network-outbound (remote unix-socket (path-regex "^/")))`)
	} else if p.Network == NetworkFull {
		rules = append(rules, `(deny network-outbound (remote unix-socket (path-regex "^/")))`,
			`(allow network-outbound (literal "/private/var/run/mDNSResponder"))`) // looks up names
	}
	return rules
}

func subpath(name string) string { return "(subpath " + quoted(name) + ")" }

// anyCase matches a path and what is below it, whatever the case of its letters.
func anyCase(name string) string {
	var pattern strings.Builder
	pattern.WriteByte('^')
	for _, c := range strings.TrimSuffix(name, "/") {
		switch {
		case c >= 'a' && c <= 'z':
			fmt.Fprintf(&pattern, "[%c%c]", c-'a'+'A', c)
		case c >= 'A' && c <= 'Z':
			fmt.Fprintf(&pattern, "[%c%c]", c, c-'A'+'a')
		case strings.ContainsRune(`\.+*?()|[]{}^$`, c):
			pattern.WriteByte('\\')
			pattern.WriteRune(c)
		default:
			pattern.WriteRune(c)
		}
	}
	pattern.WriteString("(/|$)")
	return "(regex " + quoted(pattern.String()) + ")"
}

// quoted returns a string in the language of rules.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
