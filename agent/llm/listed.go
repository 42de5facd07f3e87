package llm

// ListedModel is a provider's own information about one of its models. Most
// give only the id; zero and nil mean that the provider says nothing.
type ListedModel struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Window and MaxOutput are in tokens.
	Window    int64 `json:"window,omitempty"`
	MaxOutput int64 `json:"max_output,omitempty"`
	// Serves is the window, in tokens, with which a server runs the model now,
	// however much the model could read.
	Serves int64 `json:"serves,omitempty"`
	// Price is nil if it is not given or varies between requests.
	Price     *ListedPrice     `json:"price,omitempty"`
	Abilities *ListedAbilities `json:"abilities,omitempty"`
}

// ListedPrice is in dollars per million tokens.
type ListedPrice struct {
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// ListedAbilities are a model's inputs and features.
type ListedAbilities struct {
	Images     bool `json:"images,omitempty"`
	PDF        bool `json:"pdf,omitempty"`
	Tools      bool `json:"tools,omitempty"`
	Reasons    bool `json:"reasons,omitempty"`
	Structured bool `json:"structured,omitempty"`
}
