package confine

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

// A failure because of the confinement is told apart from other failures.
func TestExplain(t *testing.T) {
	t.Parallel()
	p := Profile{
		Writable:  []string{"/p", "/cache"},
		Protected: []string{"/p/.git", "/p/.agent", "/p/.mcp.json"},
		Hidden:    []string{"/home/u/.ssh", "/home/u/.netrc"},
		Covered:   Covered{Secrets: []string{"/p/.env"}},
	}
	for output, want := range map[string]Blocked{
		"fatal: Unable to create '/p/.git/index.lock': Read-only file system\n":                     {BlockedGit, "/p/.git/index.lock"},
		"error: could not lock config file .git/config: Read-only file system":                      {BlockedGit, ".git/config"},
		"fatal: Unable to create '/repo/.git/index.lock': Read-only file system":                    {BlockedGit, "/repo/.git/index.lock"},
		"bash: line 1: .agent/settings.json: Read-only file system":                                 {BlockedControl, ".agent/settings.json"},
		"bash: line 1: .mcp.json: Is a directory":                                                   {BlockedControl, ".mcp.json"},
		"mv: cannot move 'x' to '.mcp.json': Device or resource busy":                               {BlockedControl, ".mcp.json"},
		"touch: cannot touch '/etc/x': Read-only file system":                                       {BlockedWrite, "/etc/x"},
		"npm ERR! code EROFS\nnpm ERR! path /usr/lib/node_modules":                                  {BlockedWrite, ""},
		"cat: /home/u/.ssh/id_rsa: Permission denied":                                               {BlockedRead, "/home/u/.ssh/id_rsa"},
		"curl: (6) Could not resolve host: example.com":                                             {BlockedNetwork, "example.com"},
		"dial tcp: lookup proxy.golang.org: Temporary failure in name resolution":                   {BlockedNetwork, "proxy.golang.org"},
		"npm error request failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org":                {BlockedNetwork, "registry.npmjs.org"},
		"ssh: connect to host github.com port 22: Network is unreachable":                           {BlockedNetwork, "github.com"},
		"curl: (7) Failed to connect to localhost port 8098 after 0 ms: Couldn't connect to server": {What: BlockedLocal},
		"dial tcp 127.0.0.1:5432: connect: connection refused":                                      {What: BlockedLocal},
		"Error: connect ECONNREFUSED ::1:3000":                                                      {What: BlockedLocal},
		"curl: (7) Failed to connect to example.com port 80: Connection refused":                    {},
		"PermissionError: [Errno 1] Operation not permitted: socket.socket(AF_UNIX)":                {BlockedSocket, ""},
		"cat: /root/file: Permission denied":                                                        {},
		"error: .env: can only add regular files, symbolic links or git-directories":                {BlockedRead, ".env"},
		"cat: .env: Permission denied":                                                              {BlockedRead, ".env"},
		"exit status 1":                                                                             {},
		"bash: ./src: Is a directory":                                                               {},
		"":                                                                                          {},
	} {
		got, ok := p.Explain(output, true)
		if got != want || ok != (want != Blocked{}) {
			t.Errorf("%q: %+v, want %+v", output, got, want)
		}
	}
}

// The sentence names what was refused, not the program or a file that was read. K-47.
func TestExplainNamesWhatWasRefused(t *testing.T) {
	t.Parallel()
	p := Profile{Writable: []string{"/p"}, Protected: []string{"/p/.git"}}
	for output, want := range map[string]string{
		"/bin/bash: line 1: ../go/README: Read-only file system":                                                   "../go/README",
		"go install example.com/day: copying /tmp/go-build1/a.out: open /home/u/go/bin/day: read-only file system": "/home/u/go/bin/day",
		"go: open /home/u/go/pkg/mod/cache/download/example.com/x.lock: read-only file system":                     "/home/u/go/pkg/mod/cache/download/example.com/x.lock",
		"mv: cannot move 'src/x' to '/srv/x': Read-only file system":                                               "/srv/x",
		"cp: cannot create regular file '/usr/local/bin/tool': Read-only file system":                              "/usr/local/bin/tool",
		"Error: EROFS: read-only file system, open '/home/u/.config/app/state'":                                    "/home/u/.config/app/state",
		"OSError: [Errno 30] Read-only file system: '/var/lib/app'":                                                "/var/lib/app",
		"mkdir: cannot create directory ‘/home/u/.cache’: Read-only file system":                                   "/home/u/.cache",
		"mkdir: Read-only file system":                                                                             "",
	} {
		if got, ok := p.Explain(output, true); got != (Blocked{BlockedWrite, want}) || !ok {
			t.Errorf("%q: %+v, want %s", output, got, want)
		}
	}
}

// Behind a pipe a command that failed ends with 0. What a program says of itself is
// still explained, and what a search finds in files is not.
func TestExplainBehindAPipe(t *testing.T) {
	t.Parallel()
	p := Profile{Writable: []string{"/p"}, Hidden: []string{"/home/u/.ssh"}}
	for output, want := range map[string]Block{
		"cp: cannot create regular file '/etc/x': Read-only file system\n":                 BlockedWrite,
		"npm error code EROFS\nnpm error path /usr/lib/node_modules":                       BlockedWrite,
		"cat: /home/u/.ssh/id_rsa: Permission denied":                                      BlockedRead,
		"curl: (6) Could not resolve host: example.com":                                    BlockedNetwork,
		"ssh: connect to host github.com port 22: Network is unreachable":                  BlockedNetwork,
		"OSError: [Errno 30] Read-only file system: '/var/lib/app'":                        BlockedWrite,
		"docs/notes.md:12: cp: cannot create regular file '/etc/x': Read-only file system": "",
		"notes.md:3:cat: /home/u/.ssh/id_rsa: Permission denied":                           "",
		"  the words \"Read-only file system\" in a text":                                  "",
		"\tcase ENOTFOUND: // could not resolve host":                                      "",
		"PASS: TestReadOnly (/p/x says: Read-only is fine)":                                "",
	} {
		if got, ok := p.Explain(output, false); got.What != want || ok != (want != "") {
			t.Errorf("%q: %+v, want %q", output, got, want)
		}
	}
}

// Where nothing can be mounted, the system denies permission to what it otherwise
// calls read-only, and folders keep the entries that they have.
func TestExplainWithoutMounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/main.go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p := Profile{Writable: []string{dir}, Frozen: []string{dir}, Protected: []string{dir + "/.git", dir + "/.agent"}, Hidden: []string{"/home/u/.ssh"}}
	for output, want := range map[string]Blocked{
		"bash: line 1: new: Permission denied":                                     {BlockedEntry, "new"},
		"mkdir: cannot create directory ‘a’: Permission denied":                    {BlockedEntry, "a"},
		"rm: cannot remove 'main.go': Permission denied":                           {BlockedEntry, "main.go"},
		"Error: EACCES: permission denied, open '" + dir + "/x.tmp'":               {BlockedEntry, dir + "/x.tmp"},
		"bash: line 1: ./main.go: Permission denied":                               {},
		"bash: line 1: sub/new: Permission denied":                                 {},
		"fatal: Unable to create '" + dir + "/.git/index.lock': Permission denied": {BlockedGit, dir + "/.git/index.lock"},
		"bash: line 1: .agent/settings.json: Permission denied":                    {BlockedControl, ".agent/settings.json"},
		"cat: /home/u/.ssh/id_rsa: Permission denied":                              {BlockedRead, "/home/u/.ssh/id_rsa"},
		"bash: line 1: ../outside: Permission denied":                              {BlockedWrite, "../outside"},
		"ls: cannot open directory '/usr': Permission denied":                      {BlockedRead, "/usr"},
		"cat: /etc/passwd: Permission denied":                                      {},
	} {
		got, ok := p.Explain(output, true)
		if got != want || ok != (want != Blocked{}) {
			t.Errorf("%q: %+v, want %+v", output, got, want)
		}
	}
}

// refusing is a proxy that refused some hosts.
type refusing int

func (refusing) Environ(string, bool) []string { return nil }
func (refusing) Serve(net.Listener)            {}
func (refusing) Wanted() []string              { return nil }
func (r refusing) Refused() (clauses []string) {
	for i := range int(r) {
		clauses = append(clauses, fmt.Sprintf("h%d is refused", i))
	}
	return clauses
}

// wanting is one that would ask for them.
type wanting struct{ refusing }

func (wanting) Wanted() []string { return []string{"h0", "h1"} }

// With a proxy, a program that does not use it is told from a host that is
// refused. K-17.
func TestExplainWithAProxy(t *testing.T) {
	t.Parallel()
	p := Profile{Network: NetworkProxy, Proxy: refusing(0)}
	got, ok := p.Explain("ssh: Could not resolve host: example.com", true)
	if want := (Blocked{BlockedDirect, "example.com"}); got != want || !ok || !strings.Contains(got.Sentence(), "HTTPS_PROXY") {
		t.Errorf("%+v: %s", got, got.Sentence())
	}
	if got, ok := p.Explain("Error: connect ECONNREFUSED 127.0.0.1:3000", true); got != (Blocked{BlockedDirect, "localhost"}) || !ok {
		t.Errorf("localhost: %+v", got)
	}
	p.Network = NetworkFull
	if got, ok := p.Explain("ssh: Could not resolve host: example.com", true); ok {
		t.Errorf("%+v", got)
	}
	for n, want := range map[refusing]string{
		0: "", 1: "The sandbox's proxy refused hosts to this command: h0 is refused.",
		2: "The sandbox's proxy refused hosts to this command: h0 is refused; h1 is refused.",
	} {
		if got := (Profile{Network: NetworkProxy, Proxy: n}).Refusals(); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := (Profile{Network: NetworkProxy, Proxy: refusing(20)}).Refusals(); !strings.HasSuffix(got, "h7 is refused; and 12 more.") {
		t.Error(got)
	}
	if got := (Profile{Proxy: wanting{refusing(2)}}).Refusals(); !strings.HasSuffix(got, "h1 is refused. If it runs again, the user is asked whether it may reach h0, h1.") {
		t.Error(got)
	}
	if got := (Profile{}).Refusals() + (Profile{Network: NetworkProxy}).Refusals(); got != "" {
		t.Error(got)
	}
}
