package compaction

import (
	"fmt"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// The number of characters of each kind of message that the summarising model
// is shown (OAS-109).
const (
	userShown   = 5_000
	saidShown   = 3_000
	resultShown = 1_000
	callShown   = 1_000
)

// bytesPerToken is a low estimate of the bytes in a token.
const bytesPerToken = 3

// render writes a conversation as a text of at most room bytes. If it does not
// fit, the oldest entries are left out first, but not the user's messages.
func render(messages []llm.Message, room int) string {
	entries := entriesOf(messages)
	size := 0
	for _, e := range entries {
		size += len(e.text)
	}
	left := 0
	for _, spareUser := range []bool{true, false} {
		for i := range entries {
			if size <= room {
				break
			}
			if entries[i].text == "" || spareUser && entries[i].user {
				continue
			}
			size -= len(entries[i].text)
			entries[i].text = ""
			left++
		}
	}
	var b strings.Builder
	if left > 0 {
		fmt.Fprintf(&b, "[%d older entries are left out]\n", left)
	}
	for _, e := range entries {
		b.WriteString(e.text)
	}
	return b.String()
}

// entry is one message or action.
type entry struct {
	text string
	user bool
}

func entriesOf(messages []llm.Message) []entry {
	var out []entry
	add := func(user bool, tag, text string, most int) {
		if text = strings.TrimSpace(text); text != "" {
			name, _, _ := strings.Cut(tag, " ")
			end := "</" + name + ">"
			text = strings.ReplaceAll(middleCut(text, most), end, "<\\/"+name+">") // the text cannot contain the entry's end mark
			out = append(out, entry{user: user, text: "<" + tag + ">\n" + text + "\n" + end + "\n"})
		}
	}
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				add(false, "call "+p.Call.Name, string(p.Call.Arguments), callShown)
			case p.Result != nil && p.Result.IsError:
				add(false, "result "+p.Result.Name+" failed", said(p.Result.Parts), resultShown)
			case p.Result != nil:
				add(false, "result "+p.Result.Name, said(p.Result.Parts), resultShown)
			case p.Kind == llm.PartMedia:
				add(false, "picture", "(left out)", resultShown)
			case p.Kind == llm.PartText && m.Role == llm.RoleUser:
				add(true, "developer", p.Text, userShown)
			case p.Kind == llm.PartText:
				add(false, "agent", p.Text, saidShown)
			}
		}
	}
	return out
}

// said returns the text of a result.
func said(parts []llm.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// middleCut keeps the beginning and the end of a text that is longer than most
// characters.
func middleCut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return fmt.Sprintf("%s\n[%d characters are left out]\n%s", string(runes[:most/2]), len(runes)-most, string(runes[len(runes)-most/2:]))
}
