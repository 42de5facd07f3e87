package llm

// ListedModel is what a provider says of one of its models when it is asked
// which it has. Most say nothing but the id; zero and nil mean that.
type ListedModel struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Window and MaxOutput are in tokens.
	Window    int64 `json:"window,omitempty"`
	MaxOutput int64 `json:"max_output,omitempty"`
	// Price is nil where it is not told, or not the same for every request.
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

// ListedAbilities are what a model takes and does.
type ListedAbilities struct {
	Images     bool `json:"images,omitempty"`
	PDF        bool `json:"pdf,omitempty"`
	Tools      bool `json:"tools,omitempty"`
	Reasons    bool `json:"reasons,omitempty"`
	Structured bool `json:"structured,omitempty"`
}
