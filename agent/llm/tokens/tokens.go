// Package tokens estimates the tokens of a text that no provider has counted.
// Vendors do not publish their tokenizers, and OpenAI's, which are public,
// stand in for all (COM-25).
package tokens

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"atelier.dev/atelier/agent/llm"
)

// The tokenizers are made when they are first needed: each takes some 10 ms and 10 MB.
var (
	cl100k = sync.OnceValue(codec.NewCl100kBase)
	o200k  = sync.OnceValue(codec.NewO200kBase)
)

// bytesPerToken is used if there is no time to count. It is low, so that a sum
// is too high rather than too low.
const bytesPerToken = 3

// perMessage and perMedia are what a message adds to its text, and the assumed
// size of a picture.
const (
	perMessage = 4
	perMedia   = 1500
)

// Estimate estimates a text from its characters, without a tokenizer: a sign or a digit
// takes more of a token than a letter, and a character of another script up to a whole one.
func Estimate(text string) int {
	quarters := 0
	for _, r := range text {
		switch {
		case r == ' ' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			quarters++
		case r < 0x800 && r >= utf8.RuneSelf: // of another alphabet
			quarters += 2
		case r < utf8.RuneSelf:
			quarters += 3
		default:
			quarters += 4
		}
	}
	return (quarters + 3) / 4
}

// Count counts a text in the tokens of cl100k_base.
func Count(text string) int { return count(cl100k, text) }

// CountFor counts a text for a provider's model.
func CountFor(provider, model, text string) int { return count(tokenizer(provider, model), text) }

// tokenizer returns OpenAI's newer tokenizer for its own models, and the older one,
// which counts more tokens, for all others.
func tokenizer(provider, model string) func() *codec.Codec {
	if provider == "openai" || strings.HasPrefix(model, "gpt-") || strings.HasPrefix(model, "openai/") {
		return o200k
	}
	return cl100k
}

// count counts a text. It estimates one that the tokenizer does not read.
func count(tokenizer func() *codec.Codec, text string) int {
	if text == "" {
		return 0
	}
	n, err := tokenizer().Count(text)
	if err != nil {
		return len(text) / bytesPerToken
	}
	return n
}

// Patience is the usual time limit for counting a conversation.
const Patience = 300 * time.Millisecond

// Counter counts texts for one model until its time is up. It estimates the
// rest from its length, too high rather than too low. It is not safe for
// concurrent use.
type Counter struct {
	tokenizer func() *codec.Codec
	end       time.Time
}

// atATime is how many bytes are counted between two looks at the clock.
const atATime = 8 << 10

// NewCounter returns a counter for a provider's model with the given time
// limit.
func NewCounter(provider, model string, patience time.Duration) *Counter {
	return &Counter{tokenizer: tokenizer(provider, model), end: time.Now().Add(patience)}
}

// Text counts a text.
func (c *Counter) Text(s string) int {
	total := 0
	for len(s) > 0 {
		if time.Now().After(c.end) {
			return total + len(s)/bytesPerToken
		}
		piece := s[:min(len(s), atATime)]
		total += count(c.tokenizer, piece)
		s = s[len(piece):]
	}
	return total
}

// Part counts a part of a message.
func (c *Counter) Part(p llm.Part) int {
	switch {
	case p.Kind == llm.PartText:
		return c.Text(p.Text)
	case p.Media != nil:
		return perMedia
	case p.Reasoning != nil:
		return c.Text(p.Reasoning.Text)
	case p.Call != nil:
		return c.Text(p.Call.Name) + c.Text(string(p.Call.Arguments))
	case p.Result != nil:
		total := 0
		for _, part := range p.Result.Parts {
			total += c.Part(part)
		}
		return total
	}
	return 0
}

// CountMessages counts a conversation for a provider's model. It estimates from
// its length what it cannot count in time.
func CountMessages(provider, model string, messages []llm.Message, patience time.Duration) int {
	c := NewCounter(provider, model, patience)
	total := 0
	for _, m := range messages {
		total += perMessage
		for _, p := range m.Parts {
			total += c.Part(p)
		}
	}
	return total
}
