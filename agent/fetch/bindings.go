package fetch

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"atelier.dev/atelier/agent"
)

// wide is everything that models send.
type wide struct {
	URL     string            `json:"url,omitempty"`
	URI     string            `json:"uri,omitempty"`
	Prompt  string            `json:"prompt,omitempty"`
	Offset  int               `json:"offset,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// inText finds addresses in a text.
var inText = regexp.MustCompile(`https?://[^\s<>"'` + "`" + `]+`)

// own converts what a model sent. Gemini's models write the address into the prompt.
func (w wide) own() (Input, error) {
	in := Input{URL: cmp.Or(w.URL, w.URI), Prompt: w.Prompt, Offset: w.Offset, Headers: w.Headers}
	if in.URL == "" {
		found := inText.FindAllString(in.Prompt, -1)
		if len(found) == 0 {
			return in, errors.New("there is no address in them: give the url")
		}
		if len(found) > 1 {
			return in, errors.New("the prompt has several addresses: make one call for each, with its url")
		}
		in.URL = strings.TrimRight(found[0], ".,;:!?)]")
		if strings.TrimSpace(in.Prompt) == in.URL {
			in.Prompt = ""
		}
	}
	in.URL = tidied(in.URL)
	return in, nil
}

type shown struct {
	URL    string `json:"url" jsonschema:"the whole address, with https://"`
	Prompt string `json:"prompt,omitempty" jsonschema:"what a small model is to answer from the page; without it the text of the page is returned"`
	Offset int    `json:"offset,omitempty" jsonschema:"the number of characters of the text to skip"`
}

type geminiShown struct {
	Prompt string `json:"prompt" jsonschema:"the address, and what is to be answered from the page; the address alone returns the text of the page"`
	URL    string `json:"url,omitempty" jsonschema:"the address, if it is not in the prompt"`
	Offset int    `json:"offset,omitempty" jsonschema:"the number of characters of the text to skip"`
}

func bindings() map[string][]agent.Binding {
	named := agent.Understand[shown](Name, "web_fetch", wide.own)
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[shown](Name, Name, wide.own)},
		"openai":    {named},
		"gemini":    {agent.Understand[geminiShown](Name, "web_fetch", wide.own)},
		"spec":      {named},
		// What the Open Agent SDK calls it.
		"": {agent.Understand[shown](Name, Name, wide.own)},
	}
}
