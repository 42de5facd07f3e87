package mcp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The reader cuts a stream into the same lines however it arrives, and never
// holds more than it may.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\n  \nthree"), 3)
	f.Add([]byte(strings.Repeat("x", 100)+"\nshort\n"), 7)
	f.Add([]byte("\n"+strings.Repeat("ab", 40)), 1)
	f.Fuzz(func(t *testing.T, stream []byte, step int) {
		const most = 20
		run := func(step int) (lines []string, sizes []int64) {
			s := &splitter{most: most, line: func(line []byte) { lines = append(lines, string(line)) }, flood: func() {}}
			s.long = func(head, tail []byte, size int64) {
				if len(head) > keptEnds || len(tail) > keptEnds || size <= most {
					t.Errorf("a long line with %d and %d of %d bytes", len(head), len(tail), size)
				}
				sizes = append(sizes, size)
			}
			for rest := stream; len(rest) > 0; {
				n := min(len(rest), step)
				s.write(rest[:n])
				rest = rest[n:]
				if s.buf.size > max(most, keptEnds) {
					t.Fatalf("it holds %d bytes", s.buf.size)
				}
			}
			return lines, sizes
		}
		wholeLines, wholeSizes := run(max(1, len(stream)))
		lines, sizes := run(1 + (step&0xff+256)%256)
		if !reflect.DeepEqual(lines, wholeLines) || !reflect.DeepEqual(sizes, wholeSizes) {
			t.Errorf("%q in steps: %q %v, at once: %q %v", stream, lines, sizes, wholeLines, wholeSizes)
		}
		var want []string
		for line := range bytes.SplitAfterSeq(stream, []byte("\n")) {
			text, whole := bytes.CutSuffix(line, []byte("\n"))
			if whole && len(text) <= most && len(bytes.TrimSpace(text)) > 0 {
				want = append(want, string(bytes.TrimSuffix(text, []byte("\r"))))
			}
		}
		if !reflect.DeepEqual(lines, want) {
			t.Errorf("%q: %q, want %q", stream, lines, want)
		}
	})
}

// What is parsed agrees with encoding/json.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,"}",{"b":null}]}}`, `{"id":"x","method":"ping","params":[true,-1.5e3]}`, `{"id":null,"method":"n"}`,
		`[{"method":"a"},{"id":2,"error":{"code":-1,"message":"\"\\"}}]`, `[]`, ` {"\u0069d" : 5 , "result":1}`, "\xef\xbb\xbf{\"method\":\"a\"}", `{"id":{},"method":"x"}`, `7`, ``, `{"id":5}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		messages, err := parseMessages(text)
		if err != nil {
			return
		}
		plain := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
		if plain[0] == '{' {
			plain = append(append([]byte("["), plain...), ']')
		}
		var want []map[string]json.RawMessage
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatalf("%q was parsed: %v", text, err)
		}
		if len(messages) != len(want) {
			t.Fatalf("%q: %d messages, want %d", text, len(messages), len(want))
		}
		for i, m := range messages {
			id := want[i]["id"]
			if string(id) == "null" {
				id = nil
			}
			if !bytes.Equal(m.ID, id) || !bytes.Equal(m.Params, want[i]["params"]) || !bytes.Equal(m.Result, want[i]["result"]) {
				t.Errorf("%q: %+v, want %v", text, m, want[i])
			}
			m.number()
		}
	})
}

// A body of events leaves mcp-go what is its own, whatever was sent.
func FuzzEvents(f *testing.F) {
	f.Add("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	f.Add("event: endpoint\ndata: /m\n\n: comment\n\ndata: {\"method\":\"n\"}\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":2,\"result\":1}\n\ndata: cut")
	f.Fuzz(func(t *testing.T, body string) {
		link := &httpLink{shelf: newShelf()}
		b := newSiftedBody(nopCloser{strings.NewReader(body)}, sift{peer: ignorant{}, link: link}, true)
		out := make([]byte, 0, len(body))
		for p := make([]byte, 7); ; {
			n, err := b.Read(p)
			if out = append(out, p[:n]...); err != nil {
				break
			}
			if len(out) > 4*len(body)+64 {
				t.Fatalf("%q has no end: %q", body, out)
			}
		}
	})
}

type nopCloser struct{ *strings.Reader }

func (nopCloser) Close() error { return nil }

type ignorant struct{}

func (ignorant) notified(string, json.RawMessage)           {}
func (ignorant) asked(string, json.RawMessage, func(reply)) {}
func (ignorant) strange(Happening, ...string)               {}
func (ignorant) began(string)                               {}

func TestToolNames(t *testing.T) { // OAS-407
	t.Parallel()
	taken := map[string]bool{}
	seen := map[string]bool{}
	for _, test := range []struct{ server, tool, want string }{
		{"files", "read_file", "mcp__files__read_file"},
		{"my files", "read", ""}, {"my.files", "read", ""}, {"my_files", "read", "mcp__my_files__read"},
		{"files", "a__b", ""}, {"files", strings.Repeat("n", 10_000), ""}, {strings.Repeat("s", 100), "t", ""}, {"服务", "工具", ""}, {"f", "a\nb", ""}, {"f", "a b", ""}, {"f", "", ""},
	} {
		name := ToolName(test.server, test.tool, func(name string) bool { return taken[name] })
		if test.want != "" && name != test.want {
			t.Errorf("%q of %q is %q", test.tool, test.server, name)
		}
		if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || seen[name] {
			t.Errorf("%q of %q is %q", test.tool, test.server, name)
		}
		taken[name], seen[name] = true, true
	}
	// The parts of a name can be told: two underscores stand between them alone.
	for _, tool := range []string{"a__b", "a___b", "a  b", "a/_b", "a._.b", "a__具b"} {
		if name := ToolName("files", tool, func(string) bool { return false }); strings.Count(name, "__") != 2 || strings.Contains(name, "___") {
			t.Errorf("%q is %q", tool, name)
		}
	}
	// A name that another server has is not given twice, also if it need not be changed.
	const used = "mcp__files__read"
	for _, tool := range []string{"read", "re\nad", "r"} {
		name := ToolName("files", tool, func(name string) bool { return name == used || name == "mcp__files__r" })
		if name == used || name == "mcp__files__r" || !strings.HasPrefix(name, "mcp__files__r") {
			t.Errorf("%q is %q", tool, name)
		}
	}
}
