package workbench_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/conversation"
)

// slashTexts says of texts that begin with a slash what a refusal names: the nearest
// command, or a hyphen where there is none. What is empty is sent.
var slashTexts = map[string]string{
	"/nope": "-", "/nope x": "-", "/comit all": "/commit", "/reviw": "/review", "/Review main": "/review", "/debgu\nit": "/debug", "/nope!": "-", "/проба": "-", "/mcp:x y": "-",
	"/tmp is full": "-", "/nope, please": "-",
	"/etc/hosts is wrong": "", "/usr/": "", "/* a comment */": "", "/8 of them": "", "// text": "", "/": "", " /nope x": "", "a /nope": "", "/^a+$/ fails": "",
}

// TestUnknownSlashWordIsNotSent proves that a text that begins like a command and is none
// reaches no model: not as a message, in the queue, by an edit there, or in place of an
// earlier message.
func TestUnknownSlashWordIsNotSent(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"})
	idle := p.session("compat")
	waits := p.queue(id, agent.FollowUp, "waits")[0]
	for text, near := range slashTexts {
		if near == "" {
			continue
		}
		edited := waits
		edited.Text = text
		for method, args := range map[string]any{
			"conversation.send": conversation.SendRequest{Session: idle, Text: text},
			"queue.add":         conversation.QueueAddRequest{Session: id, Verb: agent.FollowUp, Text: text},
			"queue.edit":        conversation.QueueEditRequest{Session: id, Message: edited},
			"undo.resend":       conversation.ResendRequest{Session: idle, Turn: 1, Text: text},
		} {
			_, err := call[json.RawMessage](p, method, args)
			if err == nil {
				t.Errorf("%s %q was not refused", method, text)
				continue
			}
			_, nearest, _ := strings.Cut(err.Message, "The nearest is ")
			if !strings.HasPrefix(err.Message, "There is no command /") || cmp.Or(strings.TrimSuffix(nearest, "."), "-") != near {
				t.Errorf("%s %q: %s", method, text, err.Message)
			}
		}
	}
	for text, near := range slashTexts {
		if near == "" {
			p.queue(id, agent.FollowUp, text)
		}
	}
	for _, m := range must[conversation.QueueReply](p, "queue.edit", conversation.QueueEditRequest{Session: id, Message: waits}).Queue {
		must[conversation.QueueReply](p, "queue.remove", conversation.QueueRemoveRequest{Session: id, ID: m.ID})
	}
	p.allow(id, request)
	await(p, anyOf[agent.ProcessingEnd])
	p.send(idle, "/etc/hosts is wrong")
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("%+v", end)
	}
}
