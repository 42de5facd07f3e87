package share_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/redact"
	"atelier.dev/atelier/backend/share"
	"atelier.dev/atelier/backend/transcript/reader"
	"atelier.dev/atelier/backend/transfer"
)

const (
	r20 = "aB3dE5gH7jK9mN1pQ3sT"
	r40 = r20 + "uV5wX7yZ9aB1cD3eF5gH"
	hex = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
)

// planted are texts with a secret between « and », of 60 kinds.
var planted = []string{
	"use «sk-ant-api03-" + r40 + "» please", "openai «sk-proj-" + r40 + "»", "old openai «sk-" + r40 + "»", "groq «gsk_" + r40 + "»", "grok «xai-" + r40 + "»",
	"replicate «r8_" + r40 + "»", "stripe «sk_live_" + r20 + "»", "restricted «rk_live_" + r20 + "»", "stripe test «sk_test_" + r20 + "»", "published «pk_live_" + r20 + "»",
	"hook «whsec_" + r40 + "»", "github «ghp_" + r40 + "»", "oauth «gho_" + r40 + "»", "user «ghu_" + r40 + "»", "server «ghs_" + r40 + "»", "refresh «ghr_" + r40 + "»",
	"fine «github_pat_" + r40 + "_x»", "gitlab «glpat-" + r20 + "»", "gitlab service «glsa_" + r20 + "»", "trigger «glptt-" + r40 + "»", "runner «glrt-" + r20 + "»",
	"slack bot «xoxb-123456789012-" + r20 + "»", "slack user «xoxp-123456789012-" + r20 + "»", "slack app «xoxa-2-" + r20 + "»", "id «AKIAIOSFODNN7EXAMPLE»", "temporary «ASIAIOSFODNN7EXAMPLE»",
	"google «AIza" + r40 + "»", "google oauth «ya29." + r40 + "»", "npm «npm_" + r40 + "»", "hugging face «hf_" + r40 + "»", "pypi «pypi-" + r40 + r20 + "»", "docker «dckr_pat_" + r20 + "abc»",
	"digital ocean «dop_v1_" + hex + hex + "»", "shopify «shpat_" + hex + "»", "shopify «shpss_" + hex + "»", "shopify «shpca_" + hex + "»", "sendgrid «SG." + r20 + "." + r40 + "»",
	"vault «hvs." + r40 + "»", "atlassian «ATATT3" + r40 + "»", "linear «lin_api_" + r40 + "»", "https://hooks.slack.com/services/«T0AB/B0CD/" + r20 + "»",
	"https://discord.com/api/webhooks/«123456789/" + r40 + "»", "Endpoint=x;AccountKey=«" + r40 + "==»;y", "SharedAccessKey=«" + r40 + "=»", "Server=x;Password=«letmein1»;y",
	"Authorization: Bearer «" + r40 + "»", "jwt «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + r40 + "»", "postgres://me:«hunter-22»@db/app", "redis://:«s3cr3tpass»@cache:6379",
	"https://user:«p4ssw0rd9»@example.com/x", "«-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nAbCdEf\n-----END RSA PRIVATE KEY-----»\nafter",
	"«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----»\nafter", "DB_PASSWORD=«hunter22»\nNEXT=1", "export API_KEY=«9f8e7d6c5b4a3210ff»",
	`{"client_secret": "«q8w7e6r5t4y3»"}`, "password: '«correct-horse»'", `  apiKey: "«zxcvbnmasdfghjklqwerty12»",`, "the access key is «wJalrXUtnFEMI7K7MDENGbPxRfiCYEXAMPLEKEY»",
	"what atelier keeps: «kept-by-atelier-1»", "the project «Blue Falcon» is secret", "employee «EMP-20417»", "AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
}

// LIVE-05: of 60 kinds of secrets none reaches a viewer, wherever in an event it stands, and
// however it is cut while it is streamed.
func TestSecrets(t *testing.T) {
	t.Parallel()
	if len(planted) < 60 {
		t.Fatalf("%d kinds", len(planted))
	}
	b := newBench(t)
	address, token, _ := b.start(share.ShareRequest{Redact: redact.RedactPolicy{Words: []string{"Blue Falcon"}, Patterns: []string{`EMP-\d+`}, Off: true}})
	v := watch(t, address, token)
	var secrets []string
	for i, marked := range planted {
		before, rest, _ := strings.Cut(marked, "«")
		secret, after, _ := strings.Cut(rest, "»")
		text := before + secret + after
		secrets = append(secrets, secret)
		input, _ := json.Marshal(map[string]any{"command": "run " + text, "nested": map[string]any{"deep": []string{text}}})
		id := fmt.Sprint(i)
		b.add(agent.TextStart{})
		for at, piece := range cut(text+" and more words", i) {
			b.add(agent.TextDelta{Text: piece, Offset: at}, agent.ReasoningDelta{Text: piece, Offset: at})
		}
		b.add(said(text), agent.ToolCallStart{CallID: id, Tool: "Bash", Input: string(input)})
		b.add(agent.ToolCallEnd{CallID: id, Tool: "Bash", Output: text, Outcome: agent.OutcomeDone, Details: &agent.Details{Changes: []agent.FileChange{{Path: "a", Diff: "@@ -1 +1 @@\n+" + text}}}})
		b.add(agent.UserInput{Text: text}, agent.LocalCommandEnd{ID: id, Command: text, Output: text, Outcome: agent.OutcomeDone}, agent.Warning{Message: text}, agent.Title{Text: text})
	}
	b.add(said("the last answer"))
	var got strings.Builder
	for _, ev := range v.until(has("the last answer")) {
		var all any
		if err := json.Unmarshal([]byte(ev.Raw), &all); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&got, all)
	}
	hidden(t, "a viewer", got.String(), secrets, 5*len(planted))
	for format, written := range b.exports() {
		hidden(t, format, written, secrets, 3*len(planted))
	}
}

// hidden fails if a secret is in a text, or too few were taken out of it.
func hidden(t *testing.T, where, seen string, secrets []string, atLeast int) {
	t.Helper()
	for _, secret := range secrets {
		for line := range strings.Lines(secret) {
			if line = strings.TrimSpace(line); len(line) >= 6 && strings.Contains(seen, line) && !strings.HasPrefix(line, "-----") {
				at := strings.Index(seen, line)
				t.Errorf("%q reached %s: %q", line, where, seen[max(0, at-60):at+len(line)])
			}
		}
	}
	if n := strings.Count(seen, "[redacted]"); n < atLeast {
		t.Errorf("only %d were taken out for %s", n, where)
	}
}

// exports returns the session in each format in which it can leave. A recording is read as its
// key opens it.
func (b *bench) exports() map[string]string {
	b.t.Helper()
	exports := transfer.NewExports(transfer.ExportConfig{
		Store: b.store, Session: b.store.Session, User: "/home/me", Dir: b.t.TempDir(),
		Keys: func(context.Context) ([]string, error) { return []string{"kept-by-atelier-1"}, nil },
	})
	all := map[string]string{}
	for _, format := range []transfer.ExportFormat{transfer.ExportMarkdown, transfer.ExportHTML, transfer.ExportJSON, transfer.ExportOpenAgent, transfer.ExportComate, transfer.ExportRecording} {
		in := transfer.ExportRequest{
			Session: session, Format: format, Key: reader.NewKey(),
			Redact: redact.RedactPolicy{Words: []string{"Blue Falcon"}, Patterns: []string{`EMP-\d+`}},
		}
		var out bytes.Buffer
		if _, _, err := exports.Export(b.t.Context(), in, func(string) (io.Writer, error) { return &out, nil }, nil); err != nil {
			b.t.Fatal(err)
		}
		all[string(format)] = out.String()
		if format == transfer.ExportRecording {
			all[string(format)] = decrypted(b.t, out.String(), in.Key)
		}
	}
	return all
}

func decrypted(t *testing.T, document, key string) string {
	t.Helper()
	_, rest, _ := strings.Cut(document, `id="recording">`)
	text, _, _ := strings.Cut(rest, "<")
	sealed, err := base64.StdEncoding.DecodeString(text)
	secret, _ := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(sealed) < 12 {
		t.Fatalf("%v in %.300s", err, document)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := gcm.Open(nil, sealed[:12], sealed[12:], nil)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// cut returns a text in pieces, with their places, which depend on n.
func cut(text string, n int) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at < len(text); {
			size := min(3+n%7, len(text)-at)
			if !yield(at, text[at:at+size]) {
				return
			}
			at += size
		}
	}
}

// What is shown of a text that grows never has more of a secret than its first characters.
func TestGrowing(t *testing.T) {
	t.Parallel()
	for _, marked := range planted {
		before, rest, _ := strings.Cut(marked, "«")
		secret, after, _ := strings.Cut(rest, "»")
		text := before + secret + after + " and so on\n"
		r := redact.New(redact.RedactPolicy{Words: []string{"Blue Falcon"}, Patterns: []string{`EMP-\d+`}}, []string{"kept-by-atelier-1"}, "")
		for end := range len(text) {
			shown := r.Text("", text[:end][:r.Settled(text[:end])])
			if n := overlap(shown, secret); n >= 6 && !strings.HasPrefix(secret, "-----") || n > len("-----BEGIN OPENSSH PRIVATE KEY-----") {
				t.Errorf("of %q, %q is shown of %q", secret, shown, text[:end])
				break
			}
		}
		if all := r.Text("", text[:r.Settled(text)]); r.Settled(text) != len(text) || !strings.Contains(all, "[redacted]") {
			t.Errorf("at the end of the line, %q is shown of %q", all, text)
		}
	}
}

// overlap is the length of the longest beginning of a secret that a text has.
func overlap(text, secret string) int {
	for n := len(secret); n > 0; n-- {
		if strings.Contains(text, secret[:n]) {
			return n
		}
	}
	return 0
}
