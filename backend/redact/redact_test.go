package redact_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/redact"
)

// random is what random characters look like.
const random = "aB3dE5gH7jK9mN1pQ3sT"

// secrets are texts with a secret between « and ».
var secrets = map[string]redact.SecretKind{
	"use «sk-ant-api03-" + random + "» please":                                                  redact.KindKey,
	"«ghp_" + random + random + "»":                                                             redact.KindKey,
	"id «AKIAIOSFODNN7EXAMPLE»":                                                                 redact.KindKey,
	"Authorization: Bearer «" + random + random + "»":                                           redact.KindToken,
	"jwt «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + random + "».":                    redact.KindToken,
	"postgres://me:«hunter-22»@db/app":                                                          redact.KindAddress,
	"https://hooks.slack.com/services/«T0/B0/" + random + "»":                                   redact.KindAddress,
	"«-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC==\n-----END RSA PRIVATE KEY-----»\nafter": redact.KindPrivateKey,
	"DB_PASSWORD=«hunter22»\nNEXT=1":                                                            redact.KindAssigned,
	"export API_KEY=«9f8e7d6c5b4a3210ff»":                                                       redact.KindAssigned,
	`{"client_secret": "«q8w7e6r5t4y3»"}`:                                                       redact.KindAssigned,
	"password: '«correct-horse»'":                                                               redact.KindAssigned,
	`  apiKey: "«zxcvbnmasdfghjklqwerty12»",`:                                                   redact.KindAssigned,
	"Password=«letmein1»;Server=x":                                                              redact.KindAssigned,
	"the access key is «wJalrXUtnFEMI7K7MDENGbPxRfiCYEXAMPLEKEY»":                               redact.KindRandom,
	"my own «known-value-1» here":                                                               redact.KindKnown,
	"the «Codename» is secret":                                                                  redact.KindWord,
}

// harmless texts have nothing to take out.
const harmless = `max_tokens: 4096
"total_tokens": 128345
token := lexer.Next()
func (t Token) String() string { return t.Text }
password := os.Getenv("DB_PASSWORD")
API_KEY=$OTHER_KEY
API_KEY=${API_KEY}
api_key: process.env.API_KEY
"password": "string"
secret: <your secret>
API_KEY=your-api-key-here
key: value
keys := maps.Keys(m)
sort by key: ascending-order
commit 3f2a9c1d4e5b6a7980c1d2e3f4a5b6c7d8e9f0a1
sha256:9b74c9897bac770ffc029102a200c5de9b74c9897bac770ffc029102a200c5de
https://example.com/path?page=2
user@example.com
author: Somebody
primary_key: id
keyboard: qwerty12345
monkey = banana12345
passed: 1234567 tests
compass: north-north-west1
-----BEGIN PUBLIC KEY-----
the token of the lexer is at internal/compiler/syntax/lexer.go
import { tokenize } from './tokenizer-implementation-detail.js'
the secret of a good test is that it can fail
TOKENIZERS_PARALLELISM=false
csrf_token: null
sk-learn and pk_columns`

func redactor(p redact.RedactPolicy) *redact.Redactor {
	p.Words = append(p.Words, "Codename")
	return redact.New(p, []string{"known-value-1", "short"}, "/home/me")
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	for marked, kind := range secrets {
		before, rest, _ := strings.Cut(marked, "«")
		secret, after, _ := strings.Cut(rest, "»")
		r := redactor(redact.RedactPolicy{})
		text := before + secret + after
		r.ScanText(1, "", text)
		if got, want := r.Text("", text), before+"[redacted]"+after; got != want {
			t.Errorf("%q became %q", text, got)
		}
		found, _ := r.Findings()
		if len(found) != 1 || found[0].Kind != kind || found[0].Value != secret || found[0].Count != 1 || strings.Contains(found[0].Masked, secret) {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(harmless) {
		if got := redactor(redact.RedactPolicy{}).Text("", line); got != line {
			t.Errorf("%q became %q", line, got)
		}
	}
}

// A finding that is kept stays, and no other; its place shows the secrets around it
// hidden.
func TestPolicy(t *testing.T) {
	t.Parallel()
	text := "DB_PASSWORD=hunter22 API_KEY=9f8e7d6c5b4a3210ff in /home/me/x"
	r := redactor(redact.RedactPolicy{Home: true})
	r.ScanText(7, "", text)
	found, more := r.Findings()
	if len(found) != 3 || more != 0 {
		t.Fatalf("%+v", found)
	}
	if p := found[0].Places[0]; p.Seq != 7 || strings.Contains(p.After, "9f8e") || !strings.Contains(p.After, "API_KEY=") {
		t.Errorf("%+v", p)
	}
	kept := redactor(redact.RedactPolicy{Keep: []string{found[0].ID}})
	if got := kept.Text("", text); got != "DB_PASSWORD=hunter22 API_KEY=[redacted] in /home/me/x" {
		t.Errorf("%q", got)
	}
	if got := r.Text("", text); got != "DB_PASSWORD=[redacted] API_KEY=[redacted] in ~/x" {
		t.Errorf("%q", got)
	}
	if got := redactor(redact.RedactPolicy{Off: true}).Text("", text); got != text {
		t.Errorf("%q", got)
	}
}

// A folder whose name begins like the user's is another one.
func TestHome(t *testing.T) {
	t.Parallel()
	r := redactor(redact.RedactPolicy{Home: true})
	for text, want := range map[string]string{
		"/home/me": "~", "/home/me/x": "~/x", "cd /home/me; ls": "cd ~; ls", "/mnt/home/me:/x": "/mnt~:/x", "in /home/me.": "in ~.",
		"/home/merle/x": "/home/merle/x", "/home/me2": "/home/me2", "/home/meé": "/home/meé", "/home/merle and /home/me": "/home/merle and ~",
	} {
		if got := r.Text("", text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A secret that was recognised once is taken out everywhere, unless it is so short that
// it occurs by chance.
func TestLearnedSecrets(t *testing.T) {
	t.Parallel()
	r := redactor(redact.RedactPolicy{})
	r.ScanText(1, "", "the password is DB_PASSWORD=hunter-22-x and PIN_PASSWORD=\"abc123\"")
	if got := r.Text("", "I try hunter-22-x now, not abc123."); got != "I try [redacted] now, not abc123." {
		t.Errorf("%q", got)
	}
}

// Secrets are taken out of every text of an event, and of the arguments of a call, which
// stay JSON with all else as it was.
func TestEvents(t *testing.T) {
	t.Parallel()
	const key = "ghp_" + random + random
	call := llm.ToolCall{ID: "c", Name: "Write", Arguments: json.RawMessage(`{"path":"a","content":"x = '` + key + `'","api_token":"0123456789abcdef","nested":{"a":[1e400,"` + key + `"]}}`)}
	events := []agent.Event{
		{Data: agent.UserInput{Text: "use " + key}},
		{Data: agent.TextEnd{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartText, Text: key}, {Kind: llm.PartToolCall, Call: &call}}}}},
		{Data: agent.ToolCallStart{Input: string(call.Arguments)}},
		{Data: agent.ToolCallEnd{Output: key, Details: &agent.Details{Changes: []agent.FileChange{{Path: "a", Diff: "+" + key}}}}},
		{Data: agent.Title{Text: "with " + key}},
	}
	r := redact.New(redact.RedactPolicy{}, nil, "")
	for _, ev := range events {
		if err := r.Scan(ev.Seq, ev.Data); err != nil {
			t.Fatal(err)
		}
	}
	for _, ev := range events {
		got, err := r.Event(ev)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(got)
		if err != nil || strings.Contains(string(raw), random) || strings.Contains(string(raw), "0123456789abcdef") || !strings.Contains(string(raw), "[redacted]") {
			t.Errorf("%s, %v", raw, err)
		}
		if start, ok := got.Data.(agent.ToolCallStart); ok {
			want := `{"path":"a","content":"x = '[redacted]'","api_token":"[redacted]","nested":{"a":[1e400,"[redacted]"]}}`
			if start.Input != want {
				t.Errorf("the arguments became %s", start.Input)
			}
		}
	}
	if events[0].Data.(agent.UserInput).Text != "use "+key {
		t.Error("the event itself was changed")
	}
}

// JSON in a text of JSON is read as JSON: a secret is recognised by the name of its
// member, however its quotes are written, and what is left can still be read.
func TestNestedJSON(t *testing.T) {
	t.Parallel()
	const secret = `hunter"22\x7`
	nest := func(value string, depth int) string {
		out := map[string]string{"password": value}
		for range depth {
			inner, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			out = map[string]string{"body": string(inner)}
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for depth := range 3 {
		r := redact.New(redact.RedactPolicy{}, nil, "")
		ev := agent.Event{Data: agent.ToolCallStart{Input: nest(secret, depth)}}
		if err := r.Scan(1, ev.Data); err != nil {
			t.Fatal(err)
		}
		got, err := r.Event(ev)
		if err != nil {
			t.Fatal(err)
		}
		if found, _ := r.Findings(); len(found) != 1 || found[0].Value != secret {
			t.Errorf("%d: found %+v", depth, found)
		}
		if input := got.Data.(agent.ToolCallStart).Input; input != nest("[redacted]", depth) {
			t.Errorf("%d: %s", depth, input)
		}
	}
}

// BenchmarkHostileText reads texts in which many patterns begin and none ends. The time
// for each byte does not grow with the text.
func BenchmarkHostileText(b *testing.B) {
	for _, unit := range []string{"password=", "a", "eyJ", "secret ", "://a:", "-----BEGIN PRIVATE KEY-----"} {
		for _, size := range []int{16 << 10, 256 << 10} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%s/%dKB", strings.Trim(unit, ":/=- "), size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					r := redact.New(redact.RedactPolicy{}, nil, "")
					r.ScanText(1, "", text)
					r.Text("", text)
				}
			})
		}
	}
}

// The result has none of the learned secrets, whatever the text is.
func FuzzText(f *testing.F) {
	for marked := range secrets {
		f.Add(strings.NewReplacer("«", "", "»", "").Replace(marked))
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := redact.New(redact.RedactPolicy{}, nil, "")
		r.ScanText(1, "", text)
		left := r.Text("", text)
		found, _ := r.Findings()
		for _, s := range found {
			if len(s.Value) >= 8 && !strings.Contains("[redacted]", s.Value) && strings.Contains(left, s.Value) {
				t.Errorf("%q is left in %q", s.Value, left)
			}
		}
	})
}

// unwritable has a secret and no JSON form; unreadable has one that cannot be read back.
type (
	unwritable struct{ Text string }
	unreadable struct{ Text string }
)

func (unwritable) MarshalJSON() ([]byte, error) { return nil, errors.New("no form") }

func (u *unreadable) UnmarshalJSON(b []byte) error {
	u.Text = string(b)
	return errors.New("no way back")
}

// A value whose secrets could not be taken out is not returned with the error.
func TestFailsClosed(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + random + random
	r := redact.New(redact.RedactPolicy{}, nil, "")
	if got, err := redact.Value(r, unwritable{secret}); err == nil || got.Text != "" {
		t.Errorf("without a form: %q, %v", got.Text, err)
	}
	if got, err := redact.Value(r, unreadable{secret}); err == nil || got.Text != "" {
		t.Errorf("without a way back: %q, %v", got.Text, err)
	}
}
