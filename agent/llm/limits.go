package llm

// ModelLimits bound what a model can be sent. Zero fields are unknown and
// bound nothing.
type ModelLimits struct {
	// Window is how many tokens a request and its answer may hold.
	Window int64
	// Blind models take no pictures.
	Blind   bool
	Picture PictureLimits
}

// PictureLimits are what a provider allows of one picture; 0 bounds nothing.
type PictureLimits struct {
	Bytes int // of the picture itself, before it is encoded as text
	Edge  int // of the longer side, in pixels
}
