package compat

import (
	"encoding/json"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// chunk has the fields of a chunk that are read. Its loosely typed fields are
// those in which endpoints differ.
type chunk struct {
	ID      string          `json:"id"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Delta        delta  `json:"delta"`
	FinishReason string `json:"finish_reason"`
	Usage        *usage `json:"usage"` // Kimi's place for it
}

type delta struct {
	Content          content     `json:"content"`
	Refusal          string      `json:"refusal"`
	ReasoningContent string      `json:"reasoning_content"`
	Reasoning        string      `json:"reasoning"`
	Details          pieces      `json:"reasoning_details"`
	ToolCalls        []callDelta `json:"tool_calls"`
}

// content is a string, or the parts that a few providers send instead.
type content struct{ text, thought string }

// UnmarshalJSON takes what it can read, and nothing of the rest.
func (c *content) UnmarshalJSON(raw []byte) error {
	*c = content{}
	if wire.ReadString(raw, &c.text) {
		return nil
	}
	var parts []struct {
		Text     string `json:"text"`
		Thinking []struct {
			Text string `json:"text"`
		} `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	for _, p := range parts {
		c.text += p.Text
		for _, t := range p.Thinking {
			c.thought += t.Text
		}
	}
	return nil
}

type callDelta struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string, an object or null
	} `json:"function"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	CacheHit   int64 `json:"prompt_cache_hit_tokens"`
	Cached     int64 `json:"cached_tokens"`
	// Cost is in dollars, if the dialect says so.
	Cost      float64 `json:"cost"`
	InDetails struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	OutDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// neutral makes the counts disjoint: prompt_tokens includes the cached ones
// (LLM-29).
func (u *usage) neutral() llm.Usage {
	cached, output := max(u.InDetails.Cached, u.CacheHit, u.Cached), u.Completion
	if thought := u.OutDetails.Reasoning; thought > 0 && u.Total == u.Prompt+u.Completion+thought {
		output += thought // xAI counts it apart
	}
	return llm.Usage{
		Input:     max(0, u.Prompt-cached-u.InDetails.Written),
		CacheRead: cached, CacheWrite: u.InDetails.Written,
		Output: output, Reasoning: u.OutDetails.Reasoning, Known: true,
	}
}

// none stands for no open block.
const none = -1

// decoder turns the chunks of one answer into neutral events.
type decoder struct {
	builder   *wire.Builder
	request   *wire.Call
	text      int // open text block, or none
	reasoning int // open reasoning block, or none
	// field is the name under which reasoning came, and goes back.
	field    string
	tag      thinkTag
	details  details
	calls    map[int]int // open call blocks by the provider's index
	reason   string
	refusal  strings.Builder
	charges  bool // the endpoint says what it charged
	finished bool // a finish reason has come
}

func newDecoder(b *wire.Builder, request *wire.Call) *decoder {
	return &decoder{builder: b, request: request, text: none, reasoning: none, calls: map[int]int{}}
}

// chunk takes a chunk. Its error says why nothing after it is to be read.
func (d *decoder) chunk(raw json.RawMessage) error {
	var c chunk
	if err := wire.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("read a chunk: %w", err)
	}
	d.count(c.Usage)
	if wire.Present(c.Error) { // some servers put a null into every chunk
		d.finished = false // whatever was said before
		return d.request.ReportedBody(raw)
	}
	d.builder.SetResponseID(c.ID)
	d.builder.Start()
	if len(c.Choices) == 0 {
		return nil
	}
	d.count(c.Choices[0].Usage)
	d.delta(c.Choices[0].Delta)
	if len(d.details) > maxDetails {
		return &llm.Error{Class: llm.ClassTooLarge, Message: fmt.Sprintf("the answer was larger than allowed: it had more than %d reasoning details", maxDetails)}
	}
	if reason := c.Choices[0].FinishReason; reason != "" {
		d.finishReason(reason)
	}
	return nil
}

// count takes the counts so far. Some endpoints repeat them with every chunk:
// the last ones hold.
func (d *decoder) count(u *usage) {
	if u == nil {
		return
	}
	used := u.neutral()
	if d.charges {
		used.Charged, _ = llm.CostOf(u.Cost)
	}
	d.builder.Count(used)
}

func (d *decoder) delta(delta delta) {
	detailed := d.details.add(delta.Details)
	switch {
	case delta.ReasoningContent != "":
		d.think(reasoningField, delta.ReasoningContent)
	case delta.Reasoning != "":
		d.think(plainField, delta.Reasoning)
	case d.field == "" || d.field == detailsField: // no field repeats it
		d.think(detailsField, detailed)
	}
	d.think(contentField, delta.Content.thought)
	d.content(delta.Content.text)
	d.refusal.WriteString(delta.Refusal)
	d.say(delta.Refusal)
	for _, c := range delta.ToolCalls {
		d.call(c)
	}
}

// content takes a piece of the text, which begins with reasoning where nothing
// else holds it.
func (d *decoder) content(text string) {
	if d.tag.phase == thinkAwaited && d.field != "" {
		d.say(d.tag.over())
	}
	thought, said := d.tag.split(text)
	d.think(tagField, thought)
	d.say(said)
}

// endTag takes what was held for a tag that did not come.
func (d *decoder) endTag() {
	if d.tag.phase == thinkOpened {
		d.think(tagField, d.tag.over())
	}
	d.say(d.tag.over())
}

func (d *decoder) think(field, delta string) {
	if delta == "" {
		return
	}
	if d.reasoning == none {
		d.closeText()
		d.reasoning = d.builder.Open(llm.Part{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{}})
	}
	d.field = field
	d.builder.Append(d.reasoning, delta)
}

func (d *decoder) say(delta string) {
	if delta == "" {
		return
	}
	d.closeReasoning()
	if d.text == none {
		d.text = d.builder.Open(llm.Part{Kind: llm.PartText})
	}
	d.builder.Append(d.text, delta)
}

// call takes a piece of a call.
func (d *decoder) call(c callDelta) {
	d.endTag()
	d.closeReasoning()
	d.closeText()
	i, open := d.calls[c.Index]
	if open && d.another(i, c) {
		d.builder.Close(i, nil)
		open = false
	}
	if !open {
		i = d.builder.Open(llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{
			ID: wire.NewCallID(), WireID: c.ID, Name: c.Function.Name,
		}})
		d.calls[c.Index] = i
	}
	known := d.builder.Call(i)
	if known.WireID == "" {
		known.WireID = c.ID
	}
	if known.Name == "" {
		known.Name = c.Function.Name
	}
	d.builder.Append(i, arguments(c.Function.Arguments))
}

// another reports whether a piece with the index of block i begins a new call,
// because some servers give every call the index 0. A new id begins one.
// Without ids, a name does if it differs or if the arguments were complete.
func (d *decoder) another(i int, c callDelta) bool {
	known := d.builder.Call(i)
	if c.ID != "" && known.WireID != "" {
		return c.ID != known.WireID
	}
	if c.Function.Name == "" || d.builder.Len(i) == 0 {
		return false
	}
	return c.Function.Name != known.Name || arguments(c.Function.Arguments) != "" && complete(d.builder.Text(i))
}

// complete reports whether a text is a whole JSON value. It is asked before
// every piece, so a long text is only read if it ends like an object.
func complete(text string) bool {
	const long = 64
	return (len(text) <= long || strings.HasSuffix(strings.TrimSpace(text), "}")) && json.Valid([]byte(text))
}

// arguments reads a piece of a call's arguments: a string to append, or the
// complete object.
func arguments(raw json.RawMessage) string {
	var piece string
	if len(raw) == 0 || wire.ReadString(raw, &piece) { // null leaves it empty
		return piece
	}
	return string(raw)
}

func (d *decoder) closeText() {
	if d.text != none {
		d.builder.Close(d.text, nil)
		d.text = none
	}
}

// closeReasoning ends the reasoning. Several providers want it back in the
// field in which it came; if there were details too, they contain it.
func (d *decoder) closeReasoning() {
	if d.reasoning == none {
		return
	}
	var native json.RawMessage
	if len(d.details) == 0 && d.field != "" {
		native = echo(d.field, d.builder.Text(d.reasoning))
	}
	d.builder.Close(d.reasoning, native)
	d.reasoning = none
}

func (d *decoder) finishReason(reason string) {
	d.reason, d.finished = reason, true
	switch reason {
	case "error", "network_error", "insufficient_system_resource":
		d.builder.Fail(d.request.Reported(reason, ""))
	}
}

// finish ends the answer.
func (d *decoder) finish() {
	finish := d.end()
	unclosed := d.tag.phase == thinkOpened
	d.endTag()
	var thought string
	if unclosed && d.reasoning != none && finish.Reason == llm.FinishStop {
		thought, d.field = d.builder.Text(d.reasoning), "" // goes back as the text
	}
	d.closeReasoning()
	if len(d.details) > 0 {
		d.builder.AddNative(wire.JSON(map[string]any{detailsField: d.details.list()}))
	}
	if thought != "" {
		// The model meant this as its answer, or only wrote about the tag.
		d.say(thinkOpen + thought)
	}
	d.builder.Finish(d.builder.Counted(), finish)
}

// end returns why the answer ended. The calls decide whether tools are
// requested, because endpoints say "stop" beside them (LLM-27).
func (d *decoder) end() llm.Finish {
	finish := llm.Finish{Reason: llm.FinishStop, Raw: d.reason}
	switch {
	case d.reason == "length" || d.reason == "max_tokens":
		finish.Reason = llm.FinishLength
	case d.reason == "model_context_window_exceeded":
		finish.Reason = llm.FinishContextOverflow
	case d.reason == "content_filter" || d.reason == "sensitive":
		finish.Reason = llm.FinishContentFilter
	case d.builder.HasCalls():
		finish.Reason = llm.FinishToolCalls
	case d.refusal.Len() > 0:
		finish.Reason, finish.Detail = llm.FinishRefusal, d.refusal.String()
	}
	return finish
}
