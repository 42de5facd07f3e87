//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
)

// OC-07: the files that a message names are sent with it, and the page shows what was typed.
// What a model may not read without a question stays a word; of what is not text, that is said.
func TestMentionedFilesAreSent(t *testing.T) {
	t.Parallel()
	p, server := skilled(t, map[string]string{".claude/commands/check.md": "Check $ARGUMENTS with @app.go"}, llmtest.Round{Text: "Seen."}, llmtest.Round{Text: "Seen."}, llmtest.Round{Text: "Seen."})
	outside := filepath.Join(t.TempDir(), "outside.txt")
	put(t, outside, "far away")
	p.putFile("app.go", "package app // here\n")
	p.putFile("lib.go", "package lib // there\n")
	p.putFile("picture.png", "\x89PNG\x00")
	if err := os.Symlink(outside, filepath.Join(p.folder, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(p.folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := p.session("openai")
	p.bypass(id) // in which models may read everything

	typed := "How is it done in @app.go? Not @" + outside + ", @link.txt, @fifo, @picture.png, @. or @missing"
	p.send(id, typed)
	in := await(p, anyOf[agent.UserInput])
	want := typed + "\n\nThe file app.go:\n\n```\npackage app // here\n```" +
		"\n\nThe file picture.png:\n\n```\n[This file is not text, so its contents are left out.]\n```"
	if in.Typed != typed || in.Text != want {
		t.Errorf("%+v", in)
	}
	await(p, anyOf[agent.ProcessingEnd])
	if body := string(server.Requests()[0].Body); !strings.Contains(body, "package app // here") || strings.Contains(body, "far away") {
		t.Errorf("the model was told: %s", body)
	}

	p.command(id, "/check @lib.go")
	if in := await(p, anyOf[agent.UserInput]); !strings.Contains(in.Text, "// here") || !strings.Contains(in.Text, "// there") {
		t.Errorf("%+v", in)
	}
	await(p, anyOf[agent.ProcessingEnd])

	must[backend.Empty](p, "undo.resend", conversation.ResendRequest{Session: id, Turn: 1, Text: "Only @lib.go"})
	if in := await(p, anyOf[agent.UserInput]); in.Typed != "Only @lib.go" || !strings.Contains(in.Text, "// there") {
		t.Errorf("%+v", in)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// The files that a message names which waits, or steers, are sent as they are by then.
func TestMentionedFilesFollow(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}, llmtest.Round{Text: "3"})
	p.putFile("app.go", "package old\n")
	p.queue(id, agent.Steer, "mind @app.go")
	p.queue(id, agent.FollowUp, "then @missing")
	if waits := p.queue(id, agent.FollowUp, "and @app.go"); waits[0].Text != "mind @app.go" || waits[0].Typed != "" {
		t.Errorf("waits as %+v", waits[0])
	}
	p.putFile("app.go", "package app\n")
	p.allow(id, request)
	const attached = "\n\nThe file app.go:\n\n```\npackage app\n```"
	if s := await(p, anyOf[agent.SteeringInjected]); s.Text != "mind @app.go"+attached || s.Typed != "mind @app.go" {
		t.Errorf("steered by %+v", s)
	}
	if in := await(p, anyOf[agent.UserInput]); in.Text != "then @missing" || in.Typed != "" {
		t.Errorf("%+v", in)
	}
	if in := await(p, anyOf[agent.UserInput]); in.Text != "and @app.go"+attached || in.Typed != "and @app.go" {
		t.Errorf("%+v", in)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// OC-07: a message may mention a session of the project, of which the model is told what was said. A
// session that is not there stays a word.
func TestMentionedSession(t *testing.T) {
	t.Parallel()
	p, server := skilled(t, nil, llmtest.Round{Text: "It is checked in login.go. " + strings.Repeat("x", 8000)}, llmtest.Round{Text: "Seen."}, llmtest.Round{Text: "Seen."})
	past := p.session("openai")
	p.send(past, "Where is the login?")
	await(p, anyOf[agent.ProcessingEnd])

	id := p.session("openai")
	typed := `Go on as in @"session:Where is the login?#` + past + `", not @session:other#` + strings.ToLower(past) + " or @session:" + past
	p.send(id, typed)
	in := await(p, anyOf[agent.UserInput])
	if in.Typed != typed || !strings.Contains(in.Text, `The session "Where is the login?" of this project, used last at`) ||
		!strings.Contains(in.Text, "User: Where is the login?\n\nAgent: It is checked in login.go.") {
		t.Errorf("typed %q, sent %q", in.Typed, in.Text)
	}
	if strings.Count(in.Text, "The session ") != 1 || len(in.Text) > 6000 || !strings.Contains(in.Text, "xxx […]") {
		t.Errorf("%d bytes: %q", len(in.Text), in.Text)
	}
	await(p, anyOf[agent.ProcessingEnd])
	if body := string(server.Requests()[1].Body); !strings.Contains(body, "It is checked in login.go.") {
		t.Errorf("the model was told: %s", body)
	}
}
