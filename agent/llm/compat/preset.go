package compat

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// Preset is a well-known endpoint (COM-50, OAS-709).
type Preset struct {
	// ID is the provider's name in requests.
	ID, Name string
	BaseURL  string
	// KeyVariables and URLVariable are the environment variables for the key,
	// in order of precedence, and for another address.
	KeyVariables []string
	URLVariable  string
	// DefaultModel is the model of a first session; empty if the newest model
	// of the catalogue is used, or if the user must choose.
	DefaultModel string
	// Local marks a server on this machine: it needs no key, and
	// [Preset.Running] finds out whether it runs.
	Local bool
	// WindowSetting is how the window of a server on this machine is set, with a
	// %d for the tokens; empty for others.
	WindowSetting string
	Dialect
}

// Presets returns the well-known endpoints, in display order.
func Presets() []Preset { return slices.Clone(presets) }

var presets = []Preset{
	{
		ID: "openrouter", Name: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1",
		KeyVariables: []string{"OPENROUTER_API_KEY"}, URLVariable: "OPENROUTER_BASE_URL",
		DefaultModel: "openrouter/auto",
		Dialect:      Dialect{EffortForm: EffortObject, Gateway: true},
	},
	{
		ID: "deepseek", Name: "DeepSeek", BaseURL: "https://api.deepseek.com",
		KeyVariables: []string{"DEEPSEEK_API_KEY"}, URLVariable: "DEEPSEEK_BASE_URL",
		Dialect: Dialect{EffortForm: EffortThinking, WantsReasoning: true},
	},
	{
		ID: "glm", Name: "GLM (Zhipu)", BaseURL: "https://open.bigmodel.cn/api/paas/v4",
		KeyVariables: []string{"ZHIPU_API_KEY", "ZHIPUAI_API_KEY"}, URLVariable: "ZHIPU_BASE_URL",
		DefaultModel: "glm-5.3",
		Dialect:      Dialect{EffortForm: EffortThinking},
	},
	{
		ID: "zai", Name: "GLM (Z.AI)", BaseURL: "https://api.z.ai/api/paas/v4",
		KeyVariables: []string{"ZAI_API_KEY"}, URLVariable: "ZAI_BASE_URL",
		Dialect: Dialect{EffortForm: EffortThinking},
	},
	{
		ID: "groq", Name: "Groq", BaseURL: "https://api.groq.com/openai/v1",
		KeyVariables: []string{"GROQ_API_KEY"}, URLVariable: "GROQ_BASE_URL",
		Dialect: Dialect{CompletionCap: true},
	},
	{
		ID: "xai", Name: "xAI", BaseURL: "https://api.x.ai/v1",
		KeyVariables: []string{"XAI_API_KEY"}, URLVariable: "XAI_BASE_URL",
		Dialect: Dialect{CompletionCap: true},
	},
	{
		ID: "mistral", Name: "Mistral", BaseURL: "https://api.mistral.ai/v1",
		KeyVariables: []string{"MISTRAL_API_KEY"}, URLVariable: "MISTRAL_BASE_URL",
		Dialect: Dialect{
			Efforts:         []llm.Effort{llm.EffortNone, llm.EffortHigh},
			NoStreamOptions: true, ShortCallIDs: true, AssistantAfterTool: true,
		},
	},
	{
		ID: "moonshot", Name: "Moonshot (Kimi)", BaseURL: "https://api.moonshot.ai/v1",
		KeyVariables: []string{"MOONSHOT_API_KEY"}, URLVariable: "MOONSHOT_BASE_URL",
		Dialect: Dialect{EffortForm: EffortThinking, WantsReasoning: true},
	},
	{
		ID: "qwen", Name: "Qwen (DashScope)", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
		KeyVariables: []string{"DASHSCOPE_API_KEY"}, URLVariable: "DASHSCOPE_BASE_URL",
		Dialect: Dialect{EffortForm: EffortEnable},
	},
	{
		ID: "minimax", Name: "MiniMax", BaseURL: "https://api.minimax.io/v1",
		KeyVariables: []string{"MINIMAX_API_KEY"}, URLVariable: "MINIMAX_BASE_URL",
		DefaultModel: "MiniMax-M3",
	},
	{
		ID: "cerebras", Name: "Cerebras", BaseURL: "https://api.cerebras.ai/v1",
		KeyVariables: []string{"CEREBRAS_API_KEY"}, URLVariable: "CEREBRAS_BASE_URL",
		DefaultModel: "gpt-oss-120b",
		Dialect:      Dialect{CompletionCap: true},
	},
	{
		ID: "together", Name: "Together AI", BaseURL: "https://api.together.xyz/v1",
		KeyVariables: []string{"TOGETHER_API_KEY"}, URLVariable: "TOGETHER_BASE_URL",
		DefaultModel: "moonshotai/Kimi-K3.1-Pro",
	},
	{
		ID: "fireworks", Name: "Fireworks AI", BaseURL: "https://api.fireworks.ai/inference/v1",
		KeyVariables: []string{"FIREWORKS_API_KEY"}, URLVariable: "FIREWORKS_BASE_URL",
		DefaultModel: "accounts/fireworks/models/kimi-k3p1-pro",
	},
	{
		ID: "huggingface", Name: "Hugging Face", BaseURL: "https://router.huggingface.co/v1",
		KeyVariables: []string{"HF_TOKEN"}, URLVariable: "HF_BASE_URL",
		DefaultModel: "deepseek-ai/DeepSeek-V4.1-Flash",
	},
	{
		ID: "ollama", Name: "Ollama", BaseURL: "http://localhost:11434/v1", Local: true,
		KeyVariables: []string{"OLLAMA_API_KEY"}, URLVariable: "OLLAMA_BASE_URL",
		WindowSetting: "OLLAMA_CONTEXT_LENGTH=%d / PARAMETER num_ctx %[1]d",
		Dialect: Dialect{
			Efforts: []llm.Effort{llm.EffortNone, llm.EffortLow, llm.EffortMedium, llm.EffortHigh, llm.EffortMax},
		},
	},
	{
		ID: "llamacpp", Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1", Local: true,
		KeyVariables: []string{"LLAMACPP_API_KEY"}, URLVariable: "LLAMACPP_BASE_URL",
		WindowSetting: "llama-server -c %d",
		Dialect:       Dialect{EffortForm: EffortTemplate, AssistantAfterTool: true},
	},
	{
		ID: "lmstudio", Name: "LM Studio", BaseURL: "http://localhost:1234/v1", Local: true,
		KeyVariables: []string{"LMSTUDIO_API_KEY"}, URLVariable: "LMSTUDIO_BASE_URL",
		WindowSetting: "Context Length %d",
		Dialect:       Dialect{AssistantAfterTool: true},
	},
}

// New returns an adapter for the endpoint, at its own address if cfg has none.
func (p Preset) New(cfg Config) *Adapter {
	cfg.BaseURL = cmp.Or(strings.TrimSpace(cfg.BaseURL), p.BaseURL)
	return newAdapter(wire.Config{Provider: p.ID, Local: p.Local, AdapterConfig: cfg}, p.Dialect)
}

// dialectAt returns the dialect of an address if its host belongs to a preset
// (OAS-709).
func dialectAt(baseURL string) Dialect {
	u, err := url.Parse(strings.TrimSpace(baseURL))
	if err != nil || u.Host == "" {
		return Dialect{}
	}
	for _, p := range presets {
		own, err := url.Parse(p.BaseURL)
		if err == nil && !p.Local && u.Host == own.Host {
			return p.Dialect
		}
	}
	return Dialect{}
}
