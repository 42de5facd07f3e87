package offer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/offer"
)

// OAS-203, OAS-334, OAS-335: resources are listed and read; the tools for it are there as long as
// a server has resources and is on.
func TestResources(t *testing.T) {
	t.Parallel()
	a, b := hub("a"), hub("broken")
	a.Resources, b.Resources = true, true
	s := &servers{}
	s.set(hub("none", "x"))
	var rounds []llmtest.Round
	for _, call := range []llmtest.Call{ // one by one, because they may end in any order
		use("ListMcpResources", `{}`), use("ListMcpResources", `{"server":"a"}`), use("ListMcpResources", `{"server":"none"}`), use("ListMcpResources", `{"server":"broken"}`),
		use("ReadMcpResource", `{"server":"a","uri":"file:///a"}`), use("ReadMcpResource", `{"server":"a","uri":"file:///b"}`), use("ReadMcpResource", `{"server":"c","uri":"file:///a"}`),
	} {
		rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{call}})
	}
	w := newWorld(t, s, append(rounds, llmtest.Round{Text: "ok"})...)
	if got := names(w.offer.More("p", "m")); got != "mcp__none__x" {
		t.Error(got)
	}
	s.set(a, b)
	ends := w.run("go")
	for i, want := range []string{
		`"db://{id}","name":"Records","template":true}` + "\n" + `The server "broken" answered with an error: no <\update>`,
		`{"server":"a","uri":"file:///a","name":"a","description":"the <\\/update> first","mime":"text/plain"}`,
		`There is no server "none" with resources. These have: "a", "broken".`, "answered with an error",
		"[The resource file:///a, text/plain:]\n\nthe contents", "not found", `There is no server "c"`,
	} {
		if !strings.Contains(ends[i].Output, want) {
			t.Errorf("%d: %s", i, ends[i].Output)
		}
	}
	if len(w.asked) > 0 {
		t.Errorf("asked about %v", w.asked)
	}
	// Of servers that are off nothing is listed or read, and where none could be asked, the call has failed.
	s.hold("a", offer.HeldSession)
	var held []llmtest.Round
	for _, call := range []llmtest.Call{use("ListMcpResources", `{}`), use("ListMcpResources", `{"server":"a"}`), use("ReadMcpResource", `{"server":"a","uri":"file:///a"}`)} {
		held = append(held, llmtest.Round{Calls: []llmtest.Call{call}})
	}
	ends = newWorld(t, s, append(held, llmtest.Round{Text: "ok"})...).run("go")
	for i, want := range []string{`The server "broken" answered with an error`, `There is no server "a" with resources.`, `There is no server "a" with resources.`} {
		if end := ends[i]; !end.IsError || !strings.Contains(end.Output, want) {
			t.Errorf("%d: %s", i, end.Output)
		}
	}
	s.hold("broken", offer.HeldOff)
	if got := names(w.offer.More("p", "m")); got != "" {
		t.Error(got)
	}
}

// TestStructuredContentIsSentOnce proves that structured content which a text says as well
// does not reach the model twice, and that any other does.
func TestStructuredContentIsSentOnce(t *testing.T) {
	t.Parallel()
	texts := func(all ...string) (content []mcp.Content) {
		for _, text := range all {
			content = append(content, mcp.Content{Kind: mcp.ContentText, Text: text})
		}
		return content
	}
	for _, tt := range []struct {
		texts      []string
		structured string
		twice      bool
	}{
		{[]string{"REALFILE\n"}, `{"content":"REALFILE\n"}`, false},
		{[]string{"a\nb"}, `{"content":"a\nb"}`, false},
		{[]string{`{"a":1}`}, `{"a": 1}`, false},
		{[]string{`[{"name":"x"}]`}, `{"entities":[{"name":"x"}]}`, false},
		{[]string{"3"}, `{"result":3}`, false},
		{[]string{"one", "two"}, `{"result":["one","two"]}`, false},
		{[]string{`{"n":1}`, `{"n":2}`}, `{"result":[{"n":1},{"n":2}]}`, false},
		{[]string{"one", "two"}, `{"content":"one\ntwo"}`, false},
		{[]string{"deep"}, `{"result":{"content":"deep"}}`, false},
		{[]string{"3 files"}, `{"files":3}`, true},
		{[]string{"text"}, `{"content":"other"}`, true},
		{[]string{"text"}, `{"content":"text","size":4}`, true},
		{[]string{"one"}, `{"result":["one","two"]}`, true},
		{[]string{"one", "two", "three"}, `{"result":["one","two"]}`, true},
		{nil, `{"content":"only here"}`, true},
		{[]string{""}, `{"result":[]}`, true},
	} {
		s := &servers{answer: func(context.Context, mcp.CallRequest) (mcp.CallResult, error) {
			return mcp.CallResult{Content: texts(tt.texts...), Structured: json.RawMessage(tt.structured)}, nil
		}}
		s.set(hub("a", "x"))
		tool, _ := offer.New(offer.Config{Servers: s}).More("p", "m").Get("mcp__a__x")
		r := tool.Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{}`), Output: func(string) {}})
		want := strings.Join(tt.texts, "\n\n")
		if tt.twice {
			want = strings.TrimPrefix(want+"\n\n"+tt.structured, "\n\n")
		}
		if strings.TrimSpace(r.Output) != strings.TrimSpace(want) || string(r.Details.Server.Structured) != tt.structured {
			t.Errorf("%q with %s: %q", tt.texts, tt.structured, r.Output)
		}
	}
}

// Every kind of content arrives or is said to be left out.
func TestResults(t *testing.T) {
	t.Parallel()
	picture := func(size int) mcp.Content {
		return mcp.Content{Kind: mcp.ContentImage, MIME: "image/png", Data: make([]byte, size)}
	}
	for _, tt := range []struct {
		name   string
		answer mcp.CallResult
		want   []string
		media  int
	}{
		{"nothing", mcp.CallResult{}, []string{"[The tool answered without any content.]"}, 0},
		{"a failure", mcp.CallResult{IsError: true, Content: said("no").Content}, []string{"no"}, 0},
		{"a picture", mcp.CallResult{Content: []mcp.Content{picture(10)}}, []string{"[A picture, shown here.]"}, 1},
		{"a huge picture", mcp.CallResult{Content: []mcp.Content{picture(50 << 20)}}, []string{"[A picture of 52428800 bytes was left out"}, 0},
		{"many pictures", mcp.CallResult{Content: slicesOf(picture(3<<20), 20)}, []string{"shown here", "was left out"}, 6},
		{"a drawing", mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentImage, MIME: "image/svg+xml", Data: []byte("<svg/>")}}}, []string{"it has the type image/svg+xml"}, 0},
		{"a sound", mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentAudio, MIME: "audio/wav", Data: []byte("RIFF")}}}, []string{"[A sound recording (audio/wav, 4 bytes) is there for the user to play"}, 0},
		{"a sound of no kind that a page plays", mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentAudio, MIME: "audio/midi", Data: []byte("MThd")}}}, []string{"[A sound recording (audio/midi, 4 bytes) was left out"}, 0},
		{"too large a sound", mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentAudio, MIME: "audio/wav", Data: make([]byte, 11<<20)}}}, []string{"was left out"}, 0},
		{"a link", mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentLink, URI: "file:///x", Name: "x\n[obey]", Description: "a file"}}}, []string{"[A resource: file:///x (x [obey]): a file. ReadMcpResource reads it.]"}, 0},
		{"a text", mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentResource, URI: "file:///x", Text: "inside <environment>"}}}, []string{"[The resource file:///x:]", `inside <\environment>`}, 0},
		{"a picture in a resource", mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentResource, URI: "file:///x", MIME: "image/gif", Data: []byte("GIF")}}}, []string{"[The resource file:///x, image/gif, shown here.]"}, 1},
		{"bytes", mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentResource, URI: "file:///x", MIME: "application/zip", Data: []byte("PK")}}}, []string{"2 bytes that are not text"}, 0},
		{"another kind", mcp.CallResult{Content: []mcp.Content{{Kind: "smell"}}}, []string{"of a kind that is not known was left out: smell."}, 0},
		{"data", mcp.CallResult{Structured: json.RawMessage(`{"a":1}`)}, []string{`{"a":1}`}, 0},
		{"data that the text repeats", mcp.CallResult{Structured: json.RawMessage(`{"a":1}`), Content: said(`{ "a": 1.0 }`).Content}, []string{`{ "a": 1.0 }`}, 0},
		{"data against its schema", mcp.CallResult{Structured: json.RawMessage(`{"a":1}`), SchemaFault: "a is no string"}, []string{"is not what the tool declared: a is no string"}, 0},
		{"damaged data", mcp.CallResult{Structured: json.RawMessage(`{"a":`)}, []string{"left out"}, 0},
		{"many parts", mcp.CallResult{Content: slicesOf(mcp.Content{Kind: mcp.ContentText, Text: "x"}, 1_000)}, []string{"[The last 800 parts of the answer were left out.]"}, 0},
		{"much text", said(strings.Repeat("x", 10<<20)), []string{"more than 4 megabytes of text"}, 0},
		{"broken text", said("a\xffb"), []string{"a\uFFFDb"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &servers{answer: func(context.Context, mcp.CallRequest) (mcp.CallResult, error) { return tt.answer, nil }}
			s.set(hub("a", "x"))
			tool, _ := offer.New(offer.Config{Servers: s}).More("p", "m").Get("mcp__a__x")
			r := tool.Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{}`), Output: func(string) {}})
			for _, want := range tt.want {
				if !strings.Contains(r.Output, want) {
					t.Errorf("%.500s", r.Output)
				}
			}
			if len(r.Media) != tt.media || r.IsError != tt.answer.IsError || len(r.Output) > 5<<20 {
				t.Errorf("%d pictures, failed %t, %d bytes", len(r.Media), r.IsError, len(r.Output))
			}
			kept := 0
			for _, sound := range r.Details.Server.Sounds {
				kept += len(sound.Data)
			}
			if want := strings.Contains(r.Output, "for the user to play"); (kept > 0) != want || kept > 10<<20 {
				t.Errorf("%d bytes of sounds are kept", kept)
			}
			if _, err := json.Marshal(r.Details); err != nil {
				t.Error(err)
			}
		})
	}
}

func slicesOf[T any](v T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// Every fault of a server is a failed call with a reason.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&mcp.Fault{Kind: mcp.FaultAnswer, Detail: "bad </update> id"}, `The server "a" answered with an error: bad <\/update> id`},
		{&mcp.Fault{Kind: mcp.FaultTimeout, Detail: "1m0s"}, "did not answer in time (1m0s)"},
		{&mcp.Fault{Kind: mcp.FaultTooLarge, Detail: "100 MB"}, "too large"},
		{&mcp.Fault{Kind: mcp.FaultAuth}, "authorisation first"},
		{&mcp.Fault{Kind: mcp.FaultOff}, "switched the server"},
		{&mcp.Fault{Kind: mcp.FaultUnknown}, "does not have that any more"},
		{&mcp.Fault{Kind: mcp.FaultExited, Detail: "3"}, "failed (exited: 3). Whether"},
		{context.Canceled, "was stopped before it answered"},
	} {
		s := &servers{answer: func(context.Context, mcp.CallRequest) (mcp.CallResult, error) { return mcp.CallResult{}, tt.err }}
		s.set(hub("a", "x"))
		tool, _ := offer.New(offer.Config{Servers: s}).More("p", "m").Get("mcp__a__x")
		r := tool.Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{}`), Output: func(string) {}})
		if !r.IsError || !strings.Contains(r.Output, tt.want) {
			t.Errorf("%v: %s", tt.err, r.Output)
		}
	}
}

// A flood of progress becomes a bounded number of lines, and none twice in a row.
func TestProgressIsBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	s := &servers{answer: func(_ context.Context, r mcp.CallRequest) (mcp.CallResult, error) {
		r.Progress(mcp.Progress{Done: 0.5, Message: ""})
		for i := range 2_000 {
			r.Progress(mcp.Progress{Done: float64(i / 2), Total: 1_000, Message: strings.Repeat("x", 1_000)})
		}
		return said("ok"), nil
	}}
	s.set(hub("a", "x"))
	tool, _ := offer.New(offer.Config{Servers: s}).More("p", "m").Get("mcp__a__x")
	tool.Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{}`), Output: func(text string) { lines = append(lines, text) }})
	if len(lines) != 500 || lines[0] != "0.5\n" || !strings.HasPrefix(lines[1], "0/1000 xxx") || len(lines[1]) > 300 || lines[1] == lines[2] {
		t.Errorf("%d lines: %q", len(lines), lines[:3])
	}
}

// A server with very many tools costs a session little, also when one of them
// changes.
func BenchmarkThousandTools(b *testing.B) {
	all := mcp.ServerTools{Server: "a"}
	for i := range 1_000 {
		all.Tools = append(all.Tools, hub("a", fmt.Sprintf("tool_%d", i)).Tools...)
	}
	s := &servers{}
	o := offer.New(offer.Config{Servers: s, Switches: s})
	for b.Loop() {
		s.set(all)
		o.More("p", "m")
	}
}
