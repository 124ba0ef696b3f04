package kick

import "strings"

// languages maps the English names that the website uses to codes.
var languages = map[string]string{
	"albanian": "sq", "arabic": "ar", "bulgarian": "bg", "chinese": "zh", "croatian": "hr", "czech": "cs", "danish": "da",
	"dutch": "nl", "english": "en", "estonian": "et", "filipino": "fil", "finnish": "fi", "french": "fr", "georgian": "ka",
	"german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "indonesian": "id", "italian": "it",
	"japanese": "ja", "korean": "ko", "latvian": "lv", "lithuanian": "lt", "malay": "ms", "norwegian": "no", "persian": "fa",
	"polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr", "slovak": "sk", "slovenian": "sl",
	"spanish": "es", "swedish": "sv", "thai": "th", "turkish": "tr", "ukrainian": "uk", "urdu": "ur", "vietnamese": "vi",
}

// language returns the code of a language given as a code or an English name, nil for other words.
func language(s string) *string {
	s = strings.TrimSpace(s)
	if code, ok := languages[strings.ToLower(s)]; ok {
		return &code
	}
	if head, _, _ := strings.Cut(s, "-"); len(head) == 2 || len(head) == 3 {
		return &s
	}
	return nil
}
