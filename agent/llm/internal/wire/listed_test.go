package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
)

// LLM-15: each provider's list of models is read in the provider's own form;
// odd or missing values are left out.
func TestReadModels(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want llm.ListedModel
	}{
		"OpenRouter": {
			`{"data":[{"id":"anthropic/claude-opus-5.5","name":"Anthropic: Claude Opus 5.5","context_length":1000000,
			"architecture":{"input_modalities":["text","image","file"],"output_modalities":["text"]},
			"pricing":{"prompt":"0.000004","completion":"0.00002","request":"0","input_cache_read":"0.0000002","input_cache_write":"0.000005"},
			"top_provider":{"context_length":900000,"max_completion_tokens":128000},"supported_parameters":["reasoning","tools","structured_outputs"]}]}`,
			llm.ListedModel{
				ID: "anthropic/claude-opus-5.5", Name: "Anthropic: Claude Opus 5.5", Window: 900_000, MaxOutput: 128_000,
				Price:     &llm.ListedPrice{Input: 4, Output: 20, CacheRead: new(0.2), CacheWrite: new(5.0)},
				Abilities: &llm.ListedAbilities{Images: true, PDF: true, Tools: true, Reasons: true, Structured: true},
			},
		},
		"OpenRouter, a price that varies": {
			`{"data":[{"id":"openrouter/auto","context_length":2000000,"pricing":{"prompt":"-1","completion":"-1"}}]}`,
			llm.ListedModel{ID: "openrouter/auto", Window: 2_000_000},
		},
		"OpenRouter, free": {
			`{"data":[{"id":"a:free","pricing":{"prompt":"0","completion":"0","input_cache_read":"0"},"supported_parameters":[]}]}`,
			llm.ListedModel{ID: "a:free", Price: &llm.ListedPrice{}, Abilities: &llm.ListedAbilities{}},
		},
		"Together": {
			`[{"id":"a/b","object":"model","type":"chat","display_name":"B","context_length":262144,"pricing":{"hourly":0,"input":0.6,"output":3,"base":0,"finetune":0}},
			{"id":"a/c","type":"image"}]`,
			llm.ListedModel{ID: "a/b", Name: "B", Window: 262_144, Price: &llm.ListedPrice{Input: 0.6, Output: 3}},
		},
		"Hugging Face": {
			`{"object":"list","data":[{"id":"a/b","providers":[{"provider":"x","context_length":262144},{"provider":"y","context_length":131072},{"provider":"z"}]}]}`,
			llm.ListedModel{ID: "a/b", Window: 131_072},
		},
		"Groq": {
			`{"data":[{"id":"a","context_window":131072,"max_completion_tokens":16384}]}`,
			llm.ListedModel{ID: "a", Window: 131_072, MaxOutput: 16_384},
		},
		"Mistral": {
			`{"data":[{"id":"a","name":"a","max_context_length":262144,"capabilities":{"vision":true,"function_calling":true,"reasoning":false},"type":"base"}]}`,
			llm.ListedModel{ID: "a", Window: 262_144, Abilities: &llm.ListedAbilities{Images: true, Tools: true}},
		},
		"Anthropic": {
			`{"data":[{"type":"model","id":"a","display_name":"A","max_input_tokens":1000000,"max_tokens":128000,"capabilities":{"effort":{"supported":true}}}]}`,
			llm.ListedModel{ID: "a", Name: "A", Window: 1_000_000, MaxOutput: 128_000},
		},
		"Google": {
			`{"models":[{"name":"models/a","displayName":"A","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]},
			{"name":"models/e","supportedGenerationMethods":["embedContent"]}]}`,
			llm.ListedModel{ID: "a", Name: "A", Window: 1_048_576, MaxOutput: 65_536},
		},
		"vLLM":       {`{"data":[{"id":"a","max_model_len":32768}]}`, llm.ListedModel{ID: "a", Window: 32_768, Serves: 32_768}},
		"llama.cpp":  {`{"data":[{"id":"a","meta":{"n_ctx":4096,"n_ctx_train":131072}}]}`, llm.ListedModel{ID: "a", Window: 131_072, Serves: 4096}},
		"OpenAI":     {`{"data":[{"id":"a","object":"model","created":1,"owned_by":"x"}]}`, llm.ListedModel{ID: "a"}},
		"odd counts": {`{"data":[{"id":"a","context_length":-1,"context_window":"many","max_model_len":1e30,"pricing":{"prompt":1e9,"completion":"x"}}]}`, llm.ListedModel{ID: "a"}},
		"odd forms":  {`{"data":[{"id":"a","name":"b\u001b[2J","pricing":"dear","providers":{},"capabilities":[1],"top_provider":null}]}`, llm.ListedModel{ID: "a"}},
		"odd ids":    {`{"data":[{"id":"a"},{"id":"b\u0007"},{"id":""},{}]}`, llm.ListedModel{ID: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readModels([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]llm.ListedModel{tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadModelsIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range maxListed + 10 {
		fmt.Fprintf(&b, `,{"id":"m%d"}`, i)
	}
	if got, err := readModels([]byte("[" + b.String()[1:] + "]")); err != nil || len(got) != maxListed {
		t.Errorf("%d models, %v", len(got), err)
	}
}

func FuzzReadModels(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"a","pricing":{"prompt":"1e-6","completion":2},"providers":[{}]}]}`))
	f.Add([]byte(`[{"id":"a"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		models, err := readModels(body)
		if err != nil {
			return
		}
		for _, m := range models {
			if m.ID == "" || m.Window < 0 || m.MaxOutput < 0 || m.Price != nil && (m.Price.Input < 0 || m.Price.Output < 0) {
				t.Errorf("%+v", m)
			}
		}
	})
}
