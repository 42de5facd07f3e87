// Package document shows models what files hold that are no text: pictures, the text of PDF
// files, and the entries of archives.
package document

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/archive"
	"atelier.dev/atelier/agent/internal/pdftext"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/picture"
)

// pictures lists the extensions of pictures, and archives those of files that are archives
// inside.
var (
	pictures = strings.Fields(".png .jpg .jpeg .gif .webp .bmp .tif .tiff .heic .heif .avif")
	archives = strings.Fields(".zip .jar .whl .docx .xlsx .pptx .epub .tar .gz .tgz .bz2 .tbz2")
)

// Known reports whether a file with such a name may be a document.
func Known(path string) bool {
	extension := strings.ToLower(filepath.Ext(path))
	return extension == ".pdf" || slices.Contains(pictures, extension) || slices.Contains(archives, extension)
}

// patience is how long reading a PDF may take.
const patience = 20 * time.Second

// showPDF returns the text of a PDF.
func showPDF(ctx context.Context, path string, data []byte) agent.Result {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := pdftext.Read(within, data)
	switch {
	case errors.Is(err, pdftext.ErrNoText):
		return agent.Fail(fmt.Sprintf("%s cannot be read: %v. Make pictures of its pages with a command, such as `pdftoppm -r 80 -png FILE page`, and read those.", path, err))
	case errors.Is(err, context.DeadlineExceeded):
		return agent.Fail(fmt.Sprintf("%s cannot be read: reading it takes longer than %s.", path, patience))
	case err != nil:
		return agent.Fail(fmt.Sprintf("%s cannot be read: %v.", path, err))
	}
	return agent.Result{Output: found.String(), Details: &agent.Details{Listing: &agent.Listing{Count: len(found.Pages), Unit: "pages"}}}
}

// Show returns what a model is shown of a file. It reports false if the file is no document,
// whatever its name.
func Show(ctx context.Context, path string, data []byte) (agent.Result, bool) {
	if pdftext.Is(data) {
		return showPDF(ctx, path, data), true
	}
	if format := picture.Unreadable(data); format != "" {
		return agent.Fail(fmt.Sprintf("%s is a picture in the format %s, which cannot be shown: convert it to PNG or JPEG with a command, such as ffmpeg or ImageMagick, and read that.", path, format)), true
	}
	shown, kind, err := picture.Convert(data)
	if err == nil {
		return agent.Result{
			Output: fmt.Sprintf("[%s is a picture of %d bytes, shown here.]", path, len(data)),
			Media:  []llm.Media{{MIME: kind, Name: filepath.Base(path), Data: shown}},
		}, true
	}
	if !errors.Is(err, picture.ErrType) {
		return agent.Fail(fmt.Sprintf("%s cannot be shown: it is %v.", path, err)), true
	}
	list, err := archive.List(ctx, data)
	switch {
	case errors.Is(err, archive.ErrOther):
		return agent.Result{}, false
	case err != nil:
		return agent.Fail(fmt.Sprintf("%s cannot be listed: %v.", path, err)), true
	}
	return agent.Result{Output: list.String(), Details: &agent.Details{Listing: &agent.Listing{Count: list.Count, Unit: "entries"}}}, true
}
