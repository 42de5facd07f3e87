package llm

// ModelLimits limit what a model can be sent. A zero field means unknown.
type ModelLimits struct {
	// Window limits the tokens of a request and its answer.
	Window int64
	// Blind models do not accept pictures.
	Blind   bool
	Picture PictureLimits
}

// PictureLimits are a provider's limits for one picture; 0 means unlimited.
type PictureLimits struct {
	Bytes int // of the picture before it is encoded as text
	Edge  int // of the longer side, in pixels
}
