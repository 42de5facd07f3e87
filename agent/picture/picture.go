// Package picture fits pictures to what models accept: one of four types, no
// larger than a provider allows.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // decoded only
	"image/jpeg"
	"image/png"
	"math"
	"net/http"
	"slices"

	_ "golang.org/x/image/bmp" // decoded only
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff" // decoded only
	_ "golang.org/x/image/webp" // decoded only

	"atelier.dev/atelier/agent/llm"
)

// comfortable is the longer side of a picture after it was scaled down. Models
// do not see more detail than that.
const comfortable = 2000

// mostPixels keeps a small file from becoming a huge picture in memory.
const mostPixels = 64 << 20

// types are those that every model with vision accepts.
var types = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

var (
	// ErrType means that the data has no type that models accept.
	ErrType = errors.New("not a PNG, JPEG, GIF or WebP picture")
	// ErrBroken means that the data could not be decoded as a picture of its
	// type.
	ErrBroken = errors.New("a broken picture")
	// ErrLarge means that the picture cannot be made small enough.
	ErrLarge = errors.New("too large to be made smaller")
)

// Type returns the actual type of data, whatever it is declared as; empty if
// models do not accept it.
func Type(data []byte) string {
	if t := http.DetectContentType(data); slices.Contains(types, t) {
		return t
	}
	return ""
}

// Convert returns a picture of any common format as one that models accept: data itself, or a PNG
// of a BMP or TIFF picture. Errors wrap [ErrType], [ErrBroken] or [ErrLarge].
func Convert(data []byte) ([]byte, string, error) {
	if kind := Type(data); kind != "" {
		return data, kind, nil
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case errors.Is(err, image.ErrFormat):
		return nil, "", ErrType
	case err != nil:
		return nil, "", fmt.Errorf("%w: %w", ErrBroken, err)
	case format != "bmp" && format != "tiff":
		return nil, "", ErrType
	case config.Width <= 0 || config.Height <= 0 || config.Width > mostPixels/config.Height:
		return nil, "", ErrLarge
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return encode(shrink(whole, comfortable), "image/png")
}

// Unreadable returns the name of a format that cannot be decoded here; empty for any other data.
func Unreadable(data []byte) string {
	if len(data) < 12 || string(data[4:8]) != "ftyp" {
		return ""
	}
	switch string(data[8:12]) {
	case "heic", "heix", "heim", "heis", "hevc", "mif1", "msf1":
		return "HEIC"
	case "avif", "avis":
		return "AVIF"
	}
	return ""
}

// Fit returns data and its type, scaled down if a limit demands it. The same
// data and limits give the same picture. Errors wrap [ErrType], [ErrBroken]
// or [ErrLarge].
func Fit(data []byte, limits llm.PictureLimits) ([]byte, string, error) {
	kind := Type(data)
	if kind == "" {
		return nil, "", ErrType
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrBroken, err)
	}
	limits.Bytes, limits.Edge = orNone(limits.Bytes), orNone(limits.Edge)
	if len(data) <= limits.Bytes && max(config.Width, config.Height) <= limits.Edge {
		return data, kind, nil
	}
	if config.Width*config.Height > mostPixels {
		return nil, "", ErrLarge
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrBroken, err)
	}
	for edge := min(comfortable, limits.Edge); edge >= 64; edge /= 2 {
		small, kind, err := encode(shrink(whole, edge), kind)
		if err != nil {
			return nil, "", fmt.Errorf("encode picture: %w", err)
		}
		if len(small) <= limits.Bytes {
			return small, kind, nil
		}
	}
	return nil, "", ErrLarge
}

func orNone(limit int) int {
	if limit == 0 {
		return math.MaxInt
	}
	return limit
}

// shrink scales a picture until its longer side is at most edge.
func shrink(p image.Image, edge int) image.Image {
	w, h := p.Bounds().Dx(), p.Bounds().Dy()
	longer := max(w, h)
	if longer <= edge {
		return p
	}
	out := image.NewRGBA(image.Rect(0, 0, max(1, w*edge/longer), max(1, h*edge/longer)))
	draw.CatmullRom.Scale(out, out.Bounds(), p, p.Bounds(), draw.Src, nil)
	return out
}

// encode keeps photographs as JPEG. Anything else becomes a PNG, which keeps
// text sharp.
func encode(p image.Image, kind string) ([]byte, string, error) {
	var out bytes.Buffer
	if kind == "image/jpeg" {
		err := jpeg.Encode(&out, p, &jpeg.Options{Quality: 85})
		return out.Bytes(), kind, err
	}
	err := png.Encode(&out, p)
	return out.Bytes(), "image/png", err
}
