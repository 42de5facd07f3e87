package wire_test

import (
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// Usage that a provider reported before an answer failed is in the error,
// because it is charged.
func TestFailedAnswersAreCounted(t *testing.T) {
	t.Parallel()
	streams := map[string]string{
		"responses": "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"scripted\"}," +
			"\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}}\n\n",
		"messages": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":5}}\n\n" +
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"scripted\"}}\n\n",
		"generate": "data: {\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":5}}\n\n" +
			"data: {\"error\":{\"code\":500,\"message\":\"scripted\",\"status\":\"INTERNAL\"}}\n\n",
		"chat": "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5},\"error\":{\"code\":500,\"message\":\"scripted\"}}\n\n",
	}
	each(t, func(t *testing.T, a api) {
		server := llmtest.Serve(t, llmtest.Round{Body: streams[a.name]})
		_, _, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
		if e := failure(t, err); e.Usage != (llm.Usage{Input: 10, Output: 5, Known: true}) {
			t.Errorf("counted %+v of %v", e.Usage, e)
		}
	})
}

// Numbers that cannot be counts of tokens are not believed.
func TestImpossibleCountsAreUnknown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		for _, output := range []int64{-5, 1 << 50} {
			server := llmtest.Serve(t, llmtest.Round{Text: "Done.", Usage: llm.Usage{Input: 10, Output: output, Known: true}})
			_, answer, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
			if err != nil {
				t.Fatal(err)
			}
			if answer.Usage != (llm.Usage{}) {
				t.Errorf("%d tokens became %+v", output, answer.Usage)
			}
		}
	})
}
