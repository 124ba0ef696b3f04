// Package token cuts posts into words, numbers, emoji, hashtags, mentions and links, and folds the many ways of
// writing an Arabic word into one.
package token
