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

// Enough is how many bytes a [Bounded] counter counts: some 100 ms of work.
const Enough = 512 << 10

// Counter counts texts for one model until its time is up, or as many bytes as it may. It
// estimates the rest from its length. It is not safe for concurrent use.
type Counter struct {
	tokenizer func() *codec.Codec
	end       time.Time // of a counter that is not bounded
	// left is how many bytes may be counted, if bounded; read and found are those that
	// were, and their tokens.
	bounded           bool
	left, read, found int
}

// atATime is how many bytes are counted between two looks at the clock.
const atATime = 8 << 10

// Bounded returns a counter for a provider's model that counts the first [Enough] bytes and
// takes the rest to be like them. It gives the same figures on every machine, however busy.
func Bounded(provider, model string) *Counter {
	return &Counter{tokenizer: tokenizer(provider, model), bounded: true, left: Enough}
}

// NewCounter returns a counter for a provider's model with the given time limit. What it
// does not count in time is taken for too much rather than too little.
func NewCounter(provider, model string, patience time.Duration) *Counter {
	return &Counter{tokenizer: tokenizer(provider, model), end: time.Now().Add(patience)}
}

// Text counts a text.
func (c *Counter) Text(s string) int {
	total := 0
	for len(s) > 0 {
		if c.bounded && c.left <= 0 {
			return total + int(int64(len(s))*int64(c.found)/int64(c.read))
		}
		if !c.bounded && time.Now().After(c.end) {
			return total + len(s)/bytesPerToken
		}
		piece := s[:min(len(s), atATime)]
		n := count(c.tokenizer, piece)
		c.left, c.read, c.found = c.left-len(piece), c.read+len(piece), c.found+n
		total += n
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

// Messages counts a conversation.
func (c *Counter) Messages(messages []llm.Message) int {
	total := 0
	for _, m := range messages {
		total += perMessage
		for _, p := range m.Parts {
			total += c.Part(p)
		}
	}
	return total
}

// CountMessages counts a conversation for a provider's model. It estimates from
// its length what it cannot count in time.
func CountMessages(provider, model string, messages []llm.Message, patience time.Duration) int {
	return NewCounter(provider, model, patience).Messages(messages)
}
