// Package token splits posts into words, numbers, emoji, hashtags, mentions and links, and folds the spellings of an
// Arabic word into one.
package token
