package compat_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/compat"
)

// answers serves JSON at paths, behind which a posted model's name may stand.
// It notes which paths were asked.
type answers struct {
	at    map[string]string
	mu    sync.Mutex
	asked []string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Model string }
	path := r.URL.Path
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&body) == nil {
		path += " " + body.Model
	}
	a.mu.Lock()
	a.asked = append(a.asked, path)
	a.mu.Unlock()
	text, ok := a.at[path]
	switch {
	case !ok:
		http.Error(w, `{"error":"Unexpected endpoint or method."}`, http.StatusNotFound)
	case text == "silence":
		<-r.Context().Done()
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}
}

func adapterFor(t *testing.T, id string) func(compat.Config) *compat.Adapter {
	t.Helper()
	i := slices.IndexFunc(compat.Presets(), func(p compat.Preset) bool { return p.ID == id })
	if i < 0 {
		return func(cfg compat.Config) *compat.Adapter { return compat.NewAt(id, cfg) }
	}
	return compat.Presets()[i].New
}

// OAS-709: a server that people run themselves is asked with which window it
// runs its models, in each one's own way. The answers are those of the real
// servers, shortened.
func TestWindows(t *testing.T) {
	t.Parallel()
	const (
		qwen     = `{"object":"list","data":[{"id":"qwen3:8b","object":"model","created":1,"owned_by":"library"}]}`
		two      = `{"object":"list","data":[{"id":"a:7b","object":"model"},{"id":"b:7b","object":"model"}]}`
		showQwen = `{"parameters":"temperature                    0.6\ntop_k                          20","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"qwen3.block_count":36},"capabilities":["completion","tools"]}`
		psQwen   = `{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":6654289920,"expires_at":"2026-11-28T04:00:00Z","size_vram":6654289920,"context_length":4096}]}`
		props    = `{"default_generation_settings":{"id":0,"n_ctx":4096,"params":{"n_predict":-1}},"total_slots":4,"model_alias":"gpt-oss-20b","model_path":"/models/gpt-oss-20b.gguf","chat_template":"{{ x }}"}`
		oss      = `{"object":"list","data":[{"id":"gpt-oss-20b","object":"model","owned_by":"llamacpp","meta":{"vocab_type":2,"n_vocab":201088,"n_ctx":16384,"n_ctx_train":131072,"n_embd":2880}}]}`
		studio   = `{"object":"list","data":[{"id":"qwen/qwen3-8b","object":"model","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":4096},{"id":"gemma","object":"model","type":"vlm","state":"not-loaded","max_context_length":8192}]}`
		studios  = `{"data":[{"id":"qwen/qwen3-8b","object":"model"},{"id":"gemma","object":"model"}],"object":"list"}`
		one      = `{"object":"list","data":[{"id":"koboldcpp/m","object":"model"}]}`
	)
	type table = map[string]string
	for name, tt := range map[string]struct {
		provider string
		at       table
		want     []llm.ListedModel
	}{
		"Ollama, loaded": {"ollama", table{"/v1/models": qwen, "/api/ps": psQwen, "/api/show qwen3:8b": showQwen},
			[]llm.ListedModel{{ID: "qwen3:8b", Window: 40_960, Serves: 4096}}},
		"Ollama, not loaded": {"ollama", table{"/v1/models": qwen, "/api/ps": `{"models":[]}`, "/api/show qwen3:8b": showQwen},
			[]llm.ListedModel{{ID: "qwen3:8b", Window: 40_960}}},
		"Ollama, a Modelfile": {"ollama", table{"/v1/models": two, "/api/ps": `{"models":[]}`,
			"/api/show a:7b": `{"parameters":"num_ctx                        8192\nstop \"<|im_end|>\"","model_info":{"llama.context_length":131072}}`},
			[]llm.ListedModel{{ID: "a:7b", Window: 131_072, Serves: 8192}, {ID: "b:7b"}}},
		"Ollama, an old one": {"ollama", table{"/v1/models": qwen}, []llm.ListedModel{{ID: "qwen3:8b"}}},
		"llama.cpp, a slot's share": {"llamacpp", table{"/v1/models": oss, "/props": props},
			[]llm.ListedModel{{ID: "gpt-oss-20b", Window: 131_072, Serves: 4096}}},
		"llama.cpp, only its list": {"llamacpp", table{"/v1/models": oss},
			[]llm.ListedModel{{ID: "gpt-oss-20b", Window: 131_072, Serves: 16_384}}},
		"LM Studio": {"lmstudio", table{"/v1/models": studios, "/api/v0/models": studio},
			[]llm.ListedModel{{ID: "gemma", Window: 8192}, {ID: "qwen/qwen3-8b", Window: 131_072, Serves: 4096}}},
		"vLLM": {"compat", table{"/v1/models": `{"object":"list","data":[{"id":"m","object":"model","owned_by":"vllm","root":"m","max_model_len":32768}]}`},
			[]llm.ListedModel{{ID: "m", Window: 32_768, Serves: 32_768}}},
		"KoboldCpp": {"compat", table{"/v1/models": one, "/api/extra/true_max_context_length": `{"value":8192}`},
			[]llm.ListedModel{{ID: "koboldcpp/m", Serves: 8192}}},
		"Ollama as somebody's endpoint": {"mine", table{"/v1/models": qwen, "/api/ps": psQwen, "/api/show qwen3:8b": showQwen},
			[]llm.ListedModel{{ID: "qwen3:8b", Window: 40_960, Serves: 4096}}},
		"odd answers": {"mine", table{"/v1/models": qwen, "/api/ps": `[]`, "/props": `{"default_generation_settings":{"n_ctx":-3}}`,
			"/api/v0/models": `<html>`, "/api/extra/true_max_context_length": `{"value":99999999999}`},
			[]llm.ListedModel{{ID: "qwen3:8b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(&answers{at: tt.at})
			defer server.Close()
			got, err := adapterFor(t, tt.provider)(compat.Config{BaseURL: server.URL}).Models(t.Context())
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

// A server that leaves these questions open costs two seconds at most, and the
// list stays. A hosted provider is not asked any.
func TestWindowsAreOptional(t *testing.T) {
	t.Parallel()
	list := `{"object":"list","data":[{"id":"m","object":"model"}]}`
	silent := httptest.NewServer(&answers{at: map[string]string{"/v1/models": list, "/api/ps": "silence", "/props": "silence", "/api/v0/models": "silence"}})
	defer silent.Close()
	for _, id := range []string{"ollama", "llamacpp", "lmstudio", "compat"} {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		got, err := adapterFor(t, id)(compat.Config{BaseURL: silent.URL}).Models(ctx)
		cancel()
		if err != nil || len(got) != 1 || got[0].Serves != 0 {
			t.Errorf("%s: %v, %v", id, got, err)
		}
	}
	far := &answers{at: map[string]string{"/v1/models": list}}
	hosted := httptest.NewServer(far)
	defer hosted.Close()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(hosted.URL, "http://"))
	}}
	defer transport.CloseIdleConnections()
	cfg := compat.Config{BaseURL: "http://api.example.com/v1", HTTPClient: &http.Client{Transport: transport}}
	if got, err := compat.New(cfg).Models(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"/v1/models"}, far.asked); diff != "" {
		t.Errorf("a hosted provider was asked more: %s", diff)
	}
}
