package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
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
				if len(s.buf) > max(most, keptEnds) {
					t.Fatalf("it holds %d bytes", len(s.buf))
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

// recorder is a host that keeps the requests of a server.
type recorder struct{ requests []transport.JSONRPCRequest }

func (r *recorder) asked(request transport.JSONRPCRequest, _ func(*transport.JSONRPCResponse)) {
	r.requests = append(r.requests, request)
}
func (*recorder) report(Happening, ...string) {}
func (*recorder) greeted(string)              {}

// What a filter passes on, and what it takes for requests, is what was sent: mcp-go can
// read each message, and none is lost.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,"}",{"b":null}]}}`, `{"id":"x","method":"ping","params":[true,-1.5e3]}`, `{"id":null,"method":"n"}`,
		`[{"method":"a"},{"id":2,"error":{"code":-1,"message":"\"\\"}}]`, `[]`, ` {"\u0069d" : 5 , "result":1}`, "\xef\xbb\xbf{\"method\":\"a\"}", `{"id":{},"method":"x"}`, `7`, ``, `{"id":5}`,
		`[{"id":1,"method":"a"},{"id":2,"method":"b"},{"id":3,"result":{}},{"id":3,"result":{}}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		host := &recorder{}
		filter := filter{server: host}
		passed, err := filter.messages(text)
		if err != nil {
			return
		}
		plain := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
		if plain[0] != '[' {
			plain = append(append([]byte("["), plain...), ']')
		}
		var want []envelope
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatalf("%q was taken for messages: %v", text, err)
		}
		if len(want) != len(passed)+len(host.requests) {
			t.Fatalf("%q: %d messages and %d requests, want %d", text, len(passed), len(host.requests), len(want))
		}
		for _, m := range want {
			if m.Method != "" && !m.ID.IsNil() {
				got := host.requests[0]
				host.requests = host.requests[1:]
				if got.Method != m.Method || got.ID.String() != m.ID.String() || !bytes.Equal(got.Params.(json.RawMessage), m.Params) {
					t.Errorf("%q: the request %+v, want %+v", text, got, m)
				}
				continue
			}
			var got envelope
			if err := json.Unmarshal(passed[0], &got); err != nil || !reflect.DeepEqual(got, m) {
				t.Errorf("%q: %+v, %v, want %+v", text, got, err, m)
			}
			passed = passed[1:]
		}
	})
}

// A body of events leaves mcp-go what is its own, whatever was sent, and ends.
func FuzzEvents(f *testing.F) {
	f.Add("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	f.Add("event: endpoint\ndata: /m\n\n: comment\n\ndata: {\"method\":\"n\"}\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":2,\"result\":1}\n\ndata: cut")
	f.Fuzz(func(t *testing.T, body string) {
		b := &eventBody{Closer: io.NopCloser(nil), in: bufio.NewReader(strings.NewReader(body)), filter: filter{server: &recorder{}}}
		out := make([]byte, 0, len(body))
		for p := make([]byte, 7); ; {
			n, err := b.Read(p)
			if out = append(out, p[:n]...); err != nil {
				break
			}
			if len(out) > 8*len(body)+64 {
				t.Fatalf("%q has no end: %q", body, out)
			}
		}
		for line := range strings.Lines(body) { // what is no message on its own line
			if data, isData := strings.CutPrefix(line, "data:"); (!isData || !json.Valid([]byte(data))) && !bytes.Contains(out, []byte(line)) {
				t.Errorf("%q lost the line %q: %q", body, line, out)
			}
		}
	})
}

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
