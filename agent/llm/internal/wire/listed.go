package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"atelier.dev/atelier/agent/llm"
)

const (
	// maxListed limits the models of a provider; the largest gateways have some
	// hundreds.
	maxListed     = 5000
	maxListedName = 200
	maxTokens     = 1e9 // of a window or a request; more cannot be true
	maxPrice      = 1e3 // dollars per million tokens
)

// generates is the method that a model must have if methods are listed.
const generates = "generateContent"

// number is a number that may be written as a string. Any other value is 0, so
// that one odd member does not invalidate the list.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	*n = number(f)
	return nil
}

// tokens returns the first valid one of several counts.
func tokens(counts ...number) int64 {
	for _, n := range counts {
		if n > 0 && n <= maxTokens {
			return int64(n)
		}
	}
	return 0
}

// loose decodes a member into T, or leaves it empty if it has another form.
type loose[T any] struct{ value T }

func (l *loose[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.value = v
	}
	return nil
}

// entry is a model in a list, with the fields of every provider that returns
// more than an id.
type entry struct {
	ID      string                 `json:"id"`
	Name    string                 `json:"name"` // Google's id, others' title
	Type    loose[string]          `json:"type"`
	Methods loose[[]string]        `json:"supportedGenerationMethods"`
	Hosts   loose[[]listedHost]    `json:"providers"` // Hugging Face
	Top     loose[listedHost]      `json:"top_provider"`
	Pricing loose[pricing]         `json:"pricing"`
	Shape   loose[architecture]    `json:"architecture"`
	Takes   *loose[[]string]       `json:"supported_parameters"`
	Can     loose[map[string]bool] `json:"capabilities"` // Mistral
	Meta    loose[listedMeta]      `json:"meta"`         // llama.cpp
	titles
	counts
}

type titles struct {
	Snake loose[string] `json:"display_name"`
	Camel loose[string] `json:"displayName"`
}

// counts has the names of windows and caps.
type counts struct {
	ContextLength       number `json:"context_length"`        // OpenRouter, Together, Fireworks, Moonshot
	ContextWindow       number `json:"context_window"`        // Groq
	MaxContextLength    number `json:"max_context_length"`    // Mistral
	MaxModelLen         number `json:"max_model_len"`         // vLLM
	MaxInputTokens      number `json:"max_input_tokens"`      // Anthropic
	InputTokenLimit     number `json:"inputTokenLimit"`       // Google
	MaxTokens           number `json:"max_tokens"`            // Anthropic
	OutputTokenLimit    number `json:"outputTokenLimit"`      // Google
	MaxCompletionTokens number `json:"max_completion_tokens"` // Groq
}

type listedHost struct {
	ContextLength       number `json:"context_length"`
	MaxCompletionTokens number `json:"max_completion_tokens"`
}

// listedMeta has the window that a model was loaded with, and its own.
type listedMeta struct {
	Loaded  number `json:"n_ctx"`
	Trained number `json:"n_ctx_train"`
}

type architecture struct {
	Input  []string `json:"input_modalities"`
	Output []string `json:"output_modalities"`
}

// pricing is OpenRouter's, in dollars a token, or Together's, in dollars per
// million tokens.
type pricing struct {
	Prompt     *number `json:"prompt"`
	Completion *number `json:"completion"`
	CacheRead  *number `json:"input_cache_read"`
	CacheWrite *number `json:"input_cache_write"`
	Input      *number `json:"input"`
	Output     *number `json:"output"`
}

// price returns the listed price. A negative one stands for a varying price.
func (p pricing) price() *llm.ListedPrice {
	per := func(n *number, by float64) *float64 {
		if n == nil || *n < 0 || float64(*n)*by > maxPrice {
			return nil
		}
		return new(math.Round(float64(*n)*by*1e6) / 1e6)
	}
	input, output := per(p.Prompt, 1e6), per(p.Completion, 1e6)
	if p.Prompt == nil && p.Completion == nil {
		input, output = per(p.Input, 1), per(p.Output, 1)
	}
	if input == nil || output == nil {
		return nil
	}
	price := &llm.ListedPrice{Input: *input, Output: *output}
	// A 0 means that there is no cache.
	if r := per(p.CacheRead, 1e6); r != nil && *r > 0 {
		price.CacheRead = r
	}
	if w := per(p.CacheWrite, 1e6); w != nil && *w > 0 {
		price.CacheWrite = w
	}
	return price
}

func (e entry) abilities() *llm.ListedAbilities {
	input := e.Shape.value.Input
	switch {
	case e.Takes != nil:
		takes := e.Takes.value
		return &llm.ListedAbilities{
			Images: slices.Contains(input, "image"), PDF: slices.Contains(input, "file"), Tools: slices.Contains(takes, "tools"),
			Reasons: slices.Contains(takes, "reasoning"), Structured: slices.Contains(takes, "structured_outputs"),
		}
	case len(e.Can.value) > 0:
		can := e.Can.value
		return &llm.ListedAbilities{Images: can["vision"], Tools: can["function_calling"], Reasons: can["reasoning"]}
	}
	return nil
}

// talks reports whether the model answers in text.
func (e entry) talks() bool {
	kind, methods, output := e.Type.value, e.Methods.value, e.Shape.value.Output
	return (kind == "" || slices.Contains([]string{"model", "chat", "language", "code", "base"}, kind)) &&
		(len(methods) == 0 || slices.Contains(methods, generates)) && (len(output) == 0 || slices.Contains(output, "text"))
}

// smallest returns the count that every host of a model offers.
func smallest(hosts []listedHost) number {
	var least number
	for _, h := range hosts {
		if h.ContextLength > 0 && (least == 0 || h.ContextLength < least) {
			least = h.ContextLength
		}
	}
	return least
}

func (e entry) listed() llm.ListedModel {
	title := cmp.Or(e.Snake.value, e.Camel.value)
	if title == "" && e.Name != e.ID {
		title = e.Name
	}
	top := e.Top.value
	return llm.ListedModel{
		ID: e.ID, Name: printable(title),
		Window: tokens(top.ContextLength, e.ContextLength, e.ContextWindow, e.MaxContextLength, e.MaxModelLen,
			e.MaxInputTokens, e.InputTokenLimit, smallest(e.Hosts.value), e.Meta.value.Trained),
		Serves:    tokens(e.Meta.value.Loaded, e.MaxModelLen),
		MaxOutput: tokens(top.MaxCompletionTokens, e.MaxCompletionTokens, e.OutputTokenLimit, e.anthropicCap()),
		Price:     e.Pricing.value.price(), Abilities: e.abilities(),
	}
}

// anthropicCap returns max_tokens if it limits the answer, which is so beside
// an input limit. Others use the name for the window.
func (e entry) anthropicCap() number {
	if e.MaxInputTokens > 0 {
		return e.MaxTokens
	}
	return 0
}

func printable(s string) string {
	if len(s) > maxListedName || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// readModels reads the usual {"data": […]}, Google's {"models": […]} or the
// bare list that a few servers send. It returns the models sorted by id.
func readModels(body []byte) ([]llm.ListedModel, error) {
	var list struct {
		Data   []entry `json:"data"`
		Models []entry `json:"models"`
	}
	target := any(&list)
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		target = &list.Data
	}
	if err := json.Unmarshal(body, target); err != nil {
		return nil, fmt.Errorf("read models: %w", err)
	}
	models := []llm.ListedModel{}
	for _, e := range list.Models {
		if e.ID == "" { // Google's
			e.ID, e.Name = strings.TrimPrefix(e.Name, "models/"), ""
		}
		list.Data = append(list.Data, e)
	}
	for _, e := range list.Data {
		if e.ID != "" && printable(e.ID) == e.ID && e.talks() && len(models) < maxListed {
			models = append(models, e.listed())
		}
	}
	slices.SortStableFunc(models, func(a, b llm.ListedModel) int { return strings.Compare(a.ID, b.ID) })
	return models, nil
}
