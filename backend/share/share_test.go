package share_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/redact"
	"atelier.dev/atelier/backend/share"
	"atelier.dev/atelier/storage"
)

const session = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// bench is a store with one session, and its shares.
type bench struct {
	*share.Shares
	t     *testing.T
	store *storage.Store
}

func newBench(t *testing.T) *bench {
	t.Helper()
	store, err := storage.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, store: store}
	if err := store.CreateSession(t.Context(), backend.SessionInfo{ID: session, Folder: "/home/me/p", CreatedAt: 900}); err != nil {
		t.Fatal(err)
	}
	b.Shares = share.New(share.Config{
		Log: store, Settings: store, Session: store.Session, User: "/home/me",
		Keys: func(context.Context) ([]string, error) { return []string{"kept-by-atelier-1"}, nil },
	})
	t.Cleanup(func() { b.Close(); _ = store.Close() })
	b.add(agent.SessionStart{Folder: "/home/me/p", Version: "test"}, agent.Title{Text: "Rivers"}, agent.UserInput{Text: "Name a river."})
	return b
}

// add stores events and passes them on, as the application does.
func (b *bench) add(all ...agent.Payload) {
	b.t.Helper()
	for _, p := range all {
		ev := agent.Event{Session: session, Turn: 1, At: time.Now().UnixMilli(), Data: p}
		if ev.Durable() {
			seq, err := b.store.Append(b.t.Context(), ev)
			if err != nil {
				b.t.Fatal(err)
			}
			ev.Seq = seq
		}
		b.Observe(ev)
	}
}

func (b *bench) start(in share.ShareRequest) (link, token string, info share.ShareInfo) {
	b.t.Helper()
	in.Session = session
	started, err := b.Start(b.t.Context(), in)
	if err != nil {
		b.t.Fatal(err)
	}
	address, token, _ := strings.Cut(started.Link, "#")
	return address, token, started.Share
}

func said(text string) agent.TextEnd {
	return agent.TextEnd{Message: llm.Text(llm.RoleAssistant, text), Model: "m", Provider: "p"}
}

// viewer reads a share as the page of a viewer does.
type viewer struct {
	t      *testing.T
	body   io.ReadCloser
	events chan sent // closed at the end of the stream
}

type sent struct {
	Name string
	Data struct {
		ID    int    `json:"id"`
		HTML  string `json:"html"`
		Kind  int    `json:"kind"`
		At    int    `json:"at"`
		Text  string `json:"text"`
		Why   string `json:"why"`
		Title string `json:"title"`
		Cost  string `json:"cost"`
	}
	Raw string
}

func enter(t *testing.T, address, token, password string) (key string, status int) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"token": token, "password": password})
	answer, err := http.Post(address+"enter", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var out struct{ Key string }
	_ = json.NewDecoder(answer.Body).Decode(&out)
	return out.Key, answer.StatusCode
}

func request(t *testing.T, address, key string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"live", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	return r
}

func watch(t *testing.T, address, token string) *viewer {
	t.Helper()
	key, _ := enter(t, address, token, "")
	answer, err := http.DefaultClient.Do(request(t, address, key))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", answer, err)
	}
	v := &viewer{t: t, body: answer.Body, events: make(chan sent, 100)}
	t.Cleanup(func() { _ = v.body.Close() })
	go func() { // ends with the stream
		defer close(v.events)
		in := bufio.NewScanner(v.body)
		in.Buffer(nil, 32<<20)
		var ev sent
		for in.Scan() {
			if name, ok := strings.CutPrefix(in.Text(), "event: "); ok {
				ev = sent{Name: name}
			} else if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				ev.Raw = data
				_ = json.Unmarshal([]byte(data), &ev.Data)
				v.events <- ev
			}
		}
	}()
	return v
}

// until reads events until one is as wanted, and returns all of them.
func (v *viewer) until(wanted func(sent) bool) (all []sent) {
	v.t.Helper()
	patience := time.NewTimer(30 * time.Second)
	defer patience.Stop()
	for {
		select {
		case ev, ok := <-v.events:
			if !ok {
				v.t.Fatalf("the stream ended after %+v", all)
			}
			if all = append(all, ev); wanted(ev) {
				return all
			}
		case <-patience.C:
			v.t.Fatalf("nothing more came after %.3000s", fmt.Sprintf("%+v", all))
		}
	}
}

func has(text string) func(sent) bool {
	return func(ev sent) bool { return strings.Contains(ev.Raw, text) }
}

// LIVE-01: a viewer is given the session so far, and then what happens, as it happens.
func TestViewer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	address, token, _ := b.start(share.ShareRequest{Costs: true})
	v := watch(t, address, token)
	v.until(has("Name a river."))
	b.add(agent.ReasoningDelta{Text: "Europe has ", Offset: 0}, agent.TextDelta{Text: "The Rhine ", Offset: 0})
	v.until(has("The Rhine "))
	cost := llm.Cost(llm.Dollar / 4)
	end := said("The **Rhine** flows.")
	end.Cost = &cost
	b.add(end)
	all := v.until(has("<strong>Rhine</strong>"))
	if !slices.ContainsFunc(all, func(ev sent) bool { return ev.Name == "state" && ev.Data.Cost == "$0.2500" }) {
		t.Errorf("no cost: %+v", all)
	}
	b.add(agent.ToolCallStart{CallID: "c", Tool: "Bash", Input: `{"command":"make"}`})
	begun := v.until(has("make"))
	b.add(agent.ToolCallEnd{CallID: "c", Tool: "Bash", Output: "built", Outcome: agent.OutcomeDone})
	ended := v.until(has("built"))
	if a, z := begun[len(begun)-1].Data.ID, ended[len(ended)-1].Data.ID; a != z {
		t.Errorf("the end of a call is piece %d, its start %d", z, a)
	}
	b.add(agent.Title{Text: "Streams"}, agent.ProcessingEnd{Reason: agent.EndDone})
	v.until(func(ev sent) bool { return ev.Data.Title == "Streams" })
}

// What the user does not want shown is not.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	thought := said("Done.")
	thought.Message.Parts = append(thought.Message.Parts, llm.Part{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "hidden thought"}})
	address, token, _ := b.start(share.ShareRequest{NoOutput: true, NoReasoning: true})
	v := watch(t, address, token)
	b.add(agent.ReasoningDelta{Text: "hidden thought and ", Offset: 0}, thought)
	b.add(agent.ToolCallStart{CallID: "c", Tool: "Bash", Input: `{}`}, agent.ToolCallEnd{CallID: "c", Tool: "Bash", Output: "hidden output", Outcome: agent.OutcomeDone})
	b.add(said("The end."))
	for _, ev := range v.until(has("The end.")) {
		if strings.Contains(ev.Raw, "hidden") {
			t.Errorf("shown: %s", ev.Raw)
		}
	}
}

// LIVE-04: a share that is revoked ends every stream at once, and nothing answers any more.
func TestRevoke(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	address, token, info := b.start(share.ShareRequest{})
	v := watch(t, address, token)
	v.until(has("Name a river."))
	list, err := b.List(t.Context(), backend.Empty{})
	if err != nil || len(list.Shares) != 1 || list.Shares[0].Viewers != 1 || list.Shares[0].End != "" {
		t.Fatalf("%+v, %v", list, err)
	}
	deaf, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	key, _ := enter(t, address, token, "")
	fmt.Fprintf(deaf, "GET /live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", key)
	list, err = b.Revoke(t.Context(), share.ShareID{ID: info.ID})
	if err != nil || len(list.Shares) != 1 || list.Shares[0].End != share.EndRevoked {
		t.Fatalf("%+v, %v", list, err)
	}
	b.add(said("after the end"))
	var last sent
	for ev := range v.events { // ends, because the stream did
		if last = ev; strings.Contains(ev.Raw, "after the end") {
			t.Error("a viewer saw what came after the end")
		}
	}
	if last.Name != "end" || last.Data.Why != "revoked" {
		t.Errorf("the last event is %+v", last)
	}
	if rest, err := io.ReadAll(deaf); err == nil && bytes.Contains(rest, []byte("after the end")) {
		t.Error("a viewer that kept its connection saw more")
	}
	if _, err := http.Get(address); err == nil {
		t.Error("the listener still answers")
	}
}

// LIVE-07, K-22: nothing but the page is given to a request without the token, with that
// of another share, from another origin or by another name.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	address, token, info := b.start(share.ShareRequest{})
	other, othersToken, _ := b.start(share.ShareRequest{})
	key, status := enter(t, address, token, "")
	if status != http.StatusOK || len(token) != 43 || strings.Contains(fmt.Sprintf("%+v", info), token) {
		t.Fatalf("%d, a token of %d characters", status, len(token))
	}
	othersKey, _ := enter(t, other, othersToken, "")
	for _, wrong := range []string{"", othersToken, token[1:], token + "A", strings.ToLower(token)} {
		if _, status := enter(t, address, wrong, ""); status != http.StatusUnauthorized {
			t.Errorf("the token %q: %d", wrong, status)
		}
	}
	for name, c := range map[string]struct {
		key    string
		change func(*http.Request)
		want   int
	}{
		"without a key":             {change: func(r *http.Request) { r.Header.Del("Authorization") }, want: 401},
		"the token as key":          {key: token, want: 401},
		"another share's key":       {key: othersKey, want: 401},
		"another origin":            {key: key, change: func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, want: 403},
		"no origin":                 {key: key, change: func(r *http.Request) { r.Header.Set("Origin", "null") }, want: 403},
		"from another site":         {key: key, change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, want: 403},
		"another host":              {key: key, change: func(r *http.Request) { r.Host = "evil.example" }, want: 421},
		"an address of the network": {key: key, change: func(r *http.Request) { r.Host = "192.168.7.7:80" }, want: 421},
		"a method of the page":      {key: key, change: func(r *http.Request) { r.URL.Path = "/call" }, want: 404},
		"another file":              {key: key, change: func(r *http.Request) { r.URL.Path = "/page/viewer.html" }, want: 404},
		"a post":                    {key: key, change: func(r *http.Request) { r.Method = http.MethodPost }, want: 405},
	} {
		r := request(t, address, c.key)
		if c.change != nil {
			c.change(r)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		_ = answer.Body.Close()
		if answer.StatusCode != c.want || bytes.Contains(text, []byte("river")) || answer.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %s", name, answer.StatusCode, text)
		}
	}
	for path, kind := range map[string]string{"": "text/html", "viewer.js": "text/javascript", "viewer.css": "text/css"} {
		answer, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != 200 || !strings.HasPrefix(answer.Header.Get("Content-Type"), kind) || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "script-src 'self'") {
			t.Errorf("/%s: %d, %v", path, answer.StatusCode, answer.Header)
		}
	}
}

// LIVE-10: a password is asked for beside the link, and cannot be tried often.
func TestPassword(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	address, token, info := b.start(share.ShareRequest{Password: "Loreley"})
	if !info.Password {
		t.Error("the list does not say that there is a password")
	}
	if _, status := enter(t, address, "wrong", "Loreley"); status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", status)
	}
	if _, status := enter(t, address, token, ""); status != http.StatusUnauthorized {
		t.Errorf("no password: %d", status)
	}
	if key, status := enter(t, address, token, "Loreley"); status != http.StatusOK || key == "" {
		t.Errorf("the password: %d", status)
	}
	for range 10 {
		if _, status := enter(t, address, token, "loreley"); status != http.StatusUnauthorized {
			t.Errorf("a wrong password: %d", status)
		}
	}
	if _, status := enter(t, address, token, "Loreley"); status != http.StatusTooManyRequests {
		t.Errorf("after ten wrong ones: %d", status)
	}
}

// LIVE-09: a class watches one session, which is as fast as without it.
func TestManyViewers(t *testing.T) {
	t.Parallel()
	const viewers, answers = 200, 20
	b := newBench(t)
	address, token, _ := b.start(share.ShareRequest{})
	all := make([]*viewer, viewers)
	for i := range all {
		all[i] = watch(t, address, token)
	}
	var jobs sync.WaitGroup
	for _, v := range all {
		jobs.Go(func() {
			seen := map[int]bool{}
			for _, ev := range v.until(has("the last answer")) {
				if ev.Name == "piece" {
					seen[ev.Data.ID] = true
				}
			}
			if len(seen) != answers+2 {
				t.Errorf("a viewer saw %d pieces", len(seen))
			}
		})
	}
	long := strings.Repeat("A long answer. ", 100)
	for i := range answers {
		b.add(said(fmt.Sprint(i, long)))
	}
	b.add(said("the last answer"))
	jobs.Wait()
}

// A viewer who reads nothing holds up neither the session nor the others.
func TestSlowViewer(t *testing.T) {
	t.Parallel()
	const answers = 60
	b := newBench(t)
	address, token, _ := b.start(share.ShareRequest{})
	deaf, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	key, _ := enter(t, address, token, "")
	fmt.Fprintf(deaf, "GET /live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", key)
	v := watch(t, address, token)
	long := strings.Repeat("x", 60_000) // which is quickly searched for secrets
	var slowest time.Duration
	for i := range answers {
		ev := agent.Event{Session: session, At: 1, Data: agent.UserInput{Text: fmt.Sprint(i, long)}}
		if ev.Seq, err = b.store.Append(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for at := range 50 {
			b.Observe(agent.Event{Session: session, Data: agent.TextDelta{Text: "x ", Offset: 2 * at}})
		}
		b.Observe(ev)
		slowest = max(slowest, time.Since(begin))
	}
	b.add(said("the last answer"))
	v.until(has("the last answer"))
	if slowest > time.Second {
		t.Errorf("the session waited %v for its viewers", slowest)
	}
}

// An event that did not fit the queue is read from the log.
func TestFlood(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	address, token, _ := b.start(share.ShareRequest{})
	v := watch(t, address, token)
	var all []agent.Event
	for i := range 3_000 {
		all = append(all, agent.Event{Session: session, At: 1, Data: said(fmt.Sprintf("answer-%d-", i))})
	}
	last, err := b.store.Append(t.Context(), all...)
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range all {
		ev.Seq = last - int64(len(all)-1-i)
		b.Observe(ev)
	}
	b.add(said("the last answer"))
	seen := map[string]bool{}
	for _, ev := range v.until(has("the last answer")) {
		if _, rest, ok := strings.Cut(ev.Raw, "answer-"); ok {
			n, _, _ := strings.Cut(rest, "-")
			seen[n] = true
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d of %d answers were shown", len(seen), len(all))
	}
}

// A share ends with its session, and cannot be started for what does not exist.
func TestStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, in := range map[string]share.ShareRequest{
		"no session":     {Session: "01ARZ3NDEKTSV4RRFFQ69G5FAW"},
		"a long time":    {Session: session, Hours: 1_000},
		"another reach":  {Session: session, Reach: "world"},
		"a bad pattern":  {Session: session, Redact: redact.RedactPolicy{Patterns: []string{"("}}},
		"a long pattern": {Session: session, Redact: redact.RedactPolicy{Patterns: []string{strings.Repeat("a", 1_000)}}},
	} {
		if _, err := b.Start(t.Context(), in); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for range 8 {
		b.start(share.ShareRequest{Redact: redact.RedactPolicy{Words: []string{"Falcon"}, Patterns: []string{`F-\d+`}}})
	}
	var problem *backend.Error
	if _, err := b.Start(t.Context(), share.ShareRequest{Session: session}); !errors.As(err, &problem) || problem.ID != backend.ProblemShareFull {
		t.Errorf("a ninth share: %v", err)
	}
	list, err := b.List(t.Context(), backend.Empty{})
	if err != nil || len(list.Shares) != 8 || !slices.Equal(list.Words, []string{"Falcon"}) || !slices.Equal(list.Patterns, []string{`F-\d+`}) {
		t.Errorf("%+v, %v", list, err)
	}
	address := list.Shares[0].Address
	if at, err := url.Parse(address); err != nil || at.Hostname() != "127.0.0.1" {
		t.Errorf("shared at %s", address)
	}
	b.Observe(agent.Event{Data: agent.SessionsChange{Removed: session}})
	b.Close()
	if list, err = b.List(t.Context(), backend.Empty{}); err != nil || list.Shares[0].End != share.EndDeleted {
		t.Errorf("%+v, %v", list, err)
	}
}
