// Package arabic reads dialect, sentiment, entities and topics out of Arabic posts. It uses no network, no cgo and no
// download: one model file of 10 MB is part of the program and is read where it lies.
//
//	model := arabic.New()
//	enrichment, err := model.Enrich(ctx, "والله الحفلة كانت تحفة أوي 😍 #القاهرة")
//
// # Method
//
//   - Text: one scan finds words, numbers, emoji, hashtags (and the words inside), mentions and links. Spelling variants,
//     elongation, diacritics, tatweel and presentation forms are folded.
//   - Dialect: multinomial logistic regression over hashed character 1-6-grams, words, pairs of words and a list of
//     dialect markers. A first model with a large table labels tweets of no known dialect and says which features tell
//     most; the second one keeps 680,000 of them. Whole posts, short pieces and posts made up for the training.
//   - mixed: the dialect head and a second one that learnt short pieces score both sides of nine cuts, and their halves;
//     a small neural net judges all cuts together. Texts below six words are never mixed.
//   - not_arabic: rules for the script (no letters, most words in another script, Arabizi), then logistic regression
//     over the unfolded letters, trained on pieces of 2-7 words, some with an Arabic name attached.
//   - Sentiment: logistic regression over characters, words, stems, lists of praise and blame of several kinds, emoji and
//     signs. Words behind a negation, and those that Egyptians and the Maghreb write one around (معجبنيش), count the other
//     way round. A small neural net has a fifth of the say: it sums up rows for the letters, the stem and the lists of each
//     word, looks at three words at a time and keeps the largest and the mean of what its units see. The score is P(positive) - P(negative), with three digits.
//   - Entities: two averaged perceptrons over tag sequences, one for newspaper Arabic and one for dialects, with affixes,
//     clitics, word clusters, lists of titles, and a gazetteer of places, persons, organisations and more, some of them in
//     Latin letters. In dialects a name must be surer, most of all one that the gazetteer does not know. Exact rules find
//     hashtags, mentions, links, money and dates, and keep out God's name and currencies without a sum. Names that the
//     gazetteer knows as a product or an event and nothing else have that type; MISC is "other".
//   - Topics: logistic regression over all sixteen topics and "none", helped by word lists, word vectors, lines made up for
//     the training, and posts of the collections of which the lists leave no doubt. In texts of twelve words and more a
//     second head, which learnt SIB-200 and long small talk, says for the most part which of its seven topics it is; more is
//     known of such texts, so the first topic may be less sure there.
//
// Word vectors (positive pointwise mutual information, factored) are learnt from all text of the data folder. They are
// linear, so they are added to the rows of the hashed tables afterwards, and nothing of them is shipped. Weights are
// one signed byte with a scale for each class.
//
// # Data
//
// The labelled collections are named in NOTICE; they are not part of the repository. What was made up for the training is,
// in internal/train: 5,000 posts by country (dialects.txt), 2,700 posts with a sentiment (sentiment.txt), 3,000 lines with
// a topic (topics.txt), 800 sentences with marked names (sentences.txt), 600 everyday posts with all their labels
// (posts.txt), the parts of 1,800 sentences with and without a negation (negations.txt) and 16,000 names (names). What
// these texts say did not happen. No text is in the product, only weights and hashes.
//
// # Choices that the specification leaves open
//
//   - The text of an entity is the whole word with its clitics (وباريس, not باريس): the exact surface text.
//   - Arabizi is not_arabic. Its sentiment comes from emoji and short English, French and Arabizi lists, as it does in
//     texts of other languages; entities there come from the rules alone, and topics are empty.
//   - In dialects the word for street, valley, gate and the like is part of the name that follows it (شارع الهرم); in
//     newspaper Arabic, as in ANERcorp, it is not. Applications are products, feasts and Ramadan are events.
//   - Of a text longer than 32 KiB only the first 32 KiB are read.
//   - mixed is answered when a detector is sure enough that it costs few natural comments their dialect: training aims at 0.35 %.
//     More alarms would find more mixtures.
//
// # Rebuild and measure
//
//	go run ./enrich/arabic/cmd/train -data ../shared/arabic               # writes enrich/arabic/model.bin, byte for byte (amd64)
//	go run ./enrich/arabic/cmd/evaluate -data ../shared/arabic -fold 7    # the benchmark table: trains on nine tenths
//	go run ./enrich/arabic/cmd/evaluate -data ../shared/arabic -leave qcri
//	go run ./enrich/arabic/cmd/evaluate -everyday enrich/arabic/testdata/everyday_report.txt   # the table of everyday posts
//	go run ./enrich/arabic/cmd/evaluate -negation enrich/arabic/testdata/negation_report.txt
//	go run ./enrich/arabic/cmd/evaluate -task sentiment -file posts.tsv   # the embedded model on a file of your own
//	go test -run xxx -bench . ./enrich/arabic
//
// Training takes about five minutes of one core and gives the same bytes on any number of processors.
//
// # Everyday posts
//
// Two sets of 300 invented posts of nineteen countries and MSA and two sets of 100 sentences with their negations are in
// testdata. Settings were chosen on the first of each; the labels of five posts there were corrected on the way. The
// second was measured three times: before and after the last 100 dialect posts were added (dialect 0.883 and 0.903, of the
// three countries 0.867 and 0.850), and after the net of the sentiment, with which sentiment went from 0.803 to 0.837 and
// the negations from 0.890 to 0.870; its errors were never looked at. The tests measure it as well. All were written before the training was changed, but by the
// hand that wrote the training texts and lists afterwards, which share many names and words with them: what others write
// comes out lower. An entity is right when its first byte, its last byte and its type are; hashtags, mentions and links
// are left out of the count, since they are easy.
//
// "Before" is the model that had learnt no everyday posts, on the second set.
//
//	what                                      to choose by   to report on   before   must   aim
//	entities, precision                       0.893          0.887          0.725    0.85   0.92
//	entities, recall                          0.717          0.740          0.562    0.60   0.70
//	topics, precision                         0.871          0.834          0.405    0.80   0.90
//	topics, recall                            0.734          0.701          0.541    0.62   0.75
//	sentiment                                 0.883          0.837          0.760    0.80   0.87
//	a sentence and its negation, both right   0.860          0.870          0.120    0.75   0.90
//	dialect                                   0.930          0.903          0.870    0.90   0.93
//	dialect of Yemen, Sudan and Tunisia       0.984          0.850          0.833    0.80   0.88
//
// Every must is met on the second set; the aims are met for the recall of entities alone.
//
// # Scores
//
// Fold 7 of the data folder is one tenth of every collection (sentences of one article or group stay together) and was kept
// out of training; only its dialects were looked at once before the last 100 posts were accepted. "Left out" is a model that
// saw nothing of the collection, here without those posts. Dialects are scored as they are answered: a wrong mixed or not_arabic counts. Before is the model that had learnt no everyday posts. Plain is a linear
// model (TF-IDF of characters and words, SVM) on the same fold.
//
//	what                      measured on              n      result                          before         plain   goal
//	dialect, comments         El-Haj, fold 7           1,532  accuracy 0.928, macro-F1 0.929  0.908, 0.916   0.926* 0.91 / 0.90
//	dialect, tweets           QCRI, left out           1,120  macro-F1 0.898                  0.893          0.754  mean of five
//	dialect, tweets           Al-Shawi, fold 7         3,417  macro-F1 0.773                  0.773                 unseen sets
//	dialect, weak labels      ArSarcasm, fold 7        1,215  macro-F1 0.420                  0.421
//	dialect, translations     SIB-200, fold 7            612  macro-F1 0.639                  0.636
//	mixed, posts joined       El-Haj, fold 7           3,256  F1 0.830 at 3 % false alarms                          0.74 at 3 %
//	mixed, as answered        El-Haj, fold 7           3,256  F1 0.639 at 0.4 % false alarms  0.793 at 1.7 %
//	mixed, posts joined       three collections        3,394  F1 0.775 at 3 %; 0.622 at 0.1 % 0.775 at 2.0 %        0.74 at 3 %
//	mixed, what it costs      El-Haj; four others             0.4 points; 0.1 or less         1.7                   0.5
//	not_arabic                3-6 words, fold 7        5,440  F1 0.997                        0.997                 0.995
//	sentiment, three labels   ArSarcasm-v2, fold 7     1,215  mean F1 of pos. and neg. 0.641  0.661          0.596  0.69**
//	sentiment, two labels     AJGT, fold 7               145  accuracy 0.897                  0.897          0.862  0.91
//	entities                  ANERcorp, fold 7         1,660  strict span F1 0.807            0.813                 0.76
//	topics                    SIB-200, fold 7            612  macro-F1 0.706, accuracy 0.737  0.712, 0.750   0.678  0.85
//	speed                     a tweet of 230 bytes, one core  118 to 146 µs, 2 allocations    52 µs                 150 µs
//	size                      model.bin                       10.0 MB; 1.7 MB of tables       7.7 MB                10 MB / 64 MB
//
// The posts joined give 3 % of false alarms only when the threshold is moved there: as it is answered, mixed is so rare that
// it costs no collection more than 0.4 points, and fewer mixtures are found than before.
//
// On the folds that they were chosen by, which are not held out, the net and the scores of long posts changed ArSarcasm from
// 0.678 to 0.681 and AJGT from 0.879 to 0.906 (folds 3, 4 and 5), and what both heads say of long texts changed the topics from
// macro-F1 0.820 and accuracy 0.806 to 0.827 and 0.836 (folds 0, 1, 2, 8 and 9); mixed was chosen on fold 4.
//
// Missed: the labelled tweets and the topics of SIB-200 are below their goals. The comments of Tunisia and the official test
// parts are not at hand.
//
// *) accuracy, no answer of mixed, trained on El-Haj alone. **) On the official test part, which has more negative tweets
// than the fold and where the plain model gets 0.67.
//
// The folds 3, 4 and 5 were used for choices of sentiment and entities, and 0, 1, 2, 8 and 9 for those of topics, so they are
// not reported.
//
// # Limits
//
//   - Every label is a guess about a short text. A dialect label says nothing about the writer.
//   - Below 15 words two varieties are found in a third of the cases or fewer; dialect beside MSA less often than two
//     dialects.
//   - MSA, Levantine and Gulf are confused most. A greeting or a single word fits every variety and gets some label all the
//     same. Of the Levantine comments of the Shami corpus, many of them neutral, 0.75 get their label.
//   - The labelled tweets pay for the everyday posts: ArSarcasm lost two points, which the net does not give back. Irony is
//     found only when words give it away, and plain reports of weather, accidents and absence lean to the negative.
//   - Topics of long texts come from translated sentences of encyclopaedias, news and travel guides: scores move by ten points
//     from fold to fold. Posts about football or politics that name a club or a person and nothing else often get no topic.
//   - Clubs and towns of one everyday word (الهلال, الخبر) and unlisted names without a word that gives them away are often
//     missed in posts; a restaurant named after a man is a person. Sums of money are "money", also where ANERcorp marks
//     the currency. AQMAR (encyclopaedia) comes out far lower: 0.43.
//   - not_arabic in three or four words is hard when all of them are Arabic loan words; Kanuri is missed most.
//   - Rebuilding gives the same bytes on amd64; other architectures may fuse multiplications and round differently.
package arabic
