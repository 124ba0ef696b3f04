package mock

// The words of the sandbox. Read only. Adding a line changes the data of many ids, and thereby the golden files.

// name is a part of a handle, and how it is written in names.
type name struct{ latin, english, arabic string }

var firstNames = []name{
	{"salma", "Salma", "سلمى"},
	{"omar", "Omar", "عمر"},
	{"lina", "Lina", "لينا"},
	{"yusuf", "Yusuf", "يوسف"},
	{"noura", "Noura", "نورة"},
	{"khaled", "Khaled", "خالد"},
	{"maha", "Maha", "مها"},
	{"tariq", "Tariq", "طارق"},
	{"huda", "Huda", "هدى"},
	{"sami", "Sami", "سامي"},
	{"dana", "Dana", "دانة"},
	{"faris", "Faris", "فارس"},
	{"rania", "Rania", "رانيا"},
	{"adam", "Adam", "آدم"},
	{"zaina", "Zaina", "زينة"},
	{"ziad", "Ziad", "زياد"},
}

var lastNames = []name{
	{"haddad", "Haddad", "الحداد"},
	{"mansour", "Mansour", "منصور"},
	{"qasim", "Qasim", "القاسم"},
	{"najjar", "Najjar", "النجار"},
	{"saleh", "Saleh", "صالح"},
	{"barakat", "Barakat", "بركات"},
	{"shami", "Shami", "الشامي"},
	{"darwish", "Darwish", "درويش"},
	{"otaibi", "Otaibi", "العتيبي"},
	{"masri", "Masri", "المصري"},
	{"idrissi", "Idrissi", "الإدريسي"},
	{"carter", "Carter", "كارتر"},
}

// home is where an account lives.
type home struct {
	country, name, lang, currency string
	cities                        []string
}

var homes = []home{
	{"SA", "Saudi Arabia", "ar", "SAR", []string{"Riyadh", "جدة"}},
	{"EG", "Egypt", "ar", "EGP", []string{"Cairo", "الإسكندرية"}},
	{"AE", "United Arab Emirates", "ar", "AED", []string{"Dubai", "أبوظبي"}},
	{"KW", "Kuwait", "ar", "KWD", []string{"Kuwait City", "حولي"}},
	{"JO", "Jordan", "ar", "JOD", []string{"Amman", "إربد"}},
	{"MA", "Morocco", "ar", "MAD", []string{"Casablanca", "مراكش"}},
	{"GB", "United Kingdom", "en", "GBP", []string{"London", "Leeds"}},
	{"US", "United States", "en", "USD", []string{"Austin", "Boston"}},
}

var emoji = []string{"✨", "🌙", "☕️", "🏜️", "🐪", "📷", "🎧", "🚀", "❤️", "👩🏽‍💻"}

var hobbies = map[string][]string{
	"en": {
		"Coffee, code and quiet mornings.", "I photograph doors ✨ and the people behind them.", "Cooking what my grandmother cooked.",
		"Notes on design & typography, in two scripts.", "Long walks, short poems.", "Building small things that last 🚀",
	},
	"ar": {
		"قهوة وكتب وصباح هادئ ☕️", "أصوّر الأبواب القديمة ومن خلفها 📷", "وصفات جدتي كما أتذكرها.",
		"ملاحظات في الخط والتصميم.", "أمشي كثيراً وأكتب قليلاً 🌙", "مهندسة برمجيات، أحب الصحراء 🏜️",
	},
}

var sentences = map[string][]string{
	"en": {
		"Finally finished the balcony garden 🌱", "Nothing beats the first coffee of the day ☕️", "Does anyone else still keep a paper notebook?",
		"The new metro line is open and it is spotless.", "We shipped it! Three months of work, one button 🚀", "Rain in the desert. I have no words.",
		"Small tip: salt the water before the rice, not after.", "I read 40 pages today & understood two.", "Match night. Nobody call me until it is over ⚽️",
		"Found my grandfather's camera in a drawer 📷", "The market at six in the morning is another city.", "Prices went up again; the bread did not get bigger.",
		"Slides from yesterday's talk are online.", "Three years ago today I quit my job. Best decision 😅", "Is it too early for dates and tahini?",
		"If you know <b>HTML</b>, you know half the web.",
	},
	"ar": {
		"وأخيراً اكتملت حديقة الشرفة 🌱", "ما في شي يضاهي أول فنجان قهوة الصبح ☕️", "حد لسه بيكتب في كراسة زيي؟",
		"افتتاح الخط الجديد للمترو، والمحطات نظيفة جداً.", "أطلقناه! ثلاثة أشهر من العمل وزر واحد 🚀", "مطر في الصحراء، لا كلام يصف المشهد.",
		"نصيحة صغيرة: ملّح الماء قبل الأرز مو بعده.", "قرأت أربعين صفحة وفهمت اثنتين.", "الليلة المباراة، محد يكلمني لين تخلص ⚽️",
		"لقيت كاميرا جدي في الدرج 📷", "السوق الساعة ستة الصبح مدينة ثانية.", "الأسعار ارتفعت مجدداً والرغيف كما هو.",
		"عرض الأمس متاح الآن على الموقع.", "قبل ثلاث سنوات تركت وظيفتي، أحسن قرار 😅", "واش كاين شي بلاصة زوينة فمراكش؟",
		"شو رأيكم بتمر وطحينة هالوقت؟",
	},
}

var remarks = map[string][]string{
	"en": {
		"So true!", "Saved for later 🔖", "Where is this?", "I disagree, but nicely said.", "First!", "😂😂😂", "More of this please.",
		"Could you share the recipe?", "This made my day ❤️", "Source?", "My whole family watched it twice.", "Not sure about the second part…",
	},
	"ar": {
		"كلام سليم!", "الله يعطيك العافية 🌹", "وين هالمكان؟", "أختلف معك لكن بأدب.", "أول تعليق!", "😂😂😂", "نبي أكثر من هذا.",
		"ممكن الوصفة لو سمحتي؟", "فرحتيني والله ❤️", "المصدر؟", "شفناه مرتين كلنا.", "مش متأكد من الجزء التاني…",
	},
}

var tags = map[string][]string{
	"en": {"coffee", "photography", "desert", "startup", "football", "travel", "recipes", "books"},
	"ar": {"قهوة", "تصوير", "الصحراء", "ريادة_أعمال", "كرة_القدم", "سفر", "وصفات", "كتب"},
}

var titles = map[string][]string{
	"en": {"Morning in the old town", "Letters from the coast", "A week without a phone", "Ten small dishes", "What the river said", "Night drive"},
	"ar": {"صباح المدينة القديمة", "رسائل من الساحل", "أسبوع بلا هاتف", "عشرة أطباق صغيرة", "ما قاله النهر", "سهرة على الطريق"},
}

// ware is a product, priced in hundredths of a dollar.
type ware struct {
	title, arabic string
	categories    []string
	cents         int
}

var wares = []ware{
	{"Brass coffee pot", "دلة نحاسية", []string{"Home", "Kitchen", "Coffee"}, 4950},
	{"Linen shirt", "قميص كتان", []string{"Clothing", "Men"}, 3900},
	{"Oud perfume, 50 ml", "عطر عود ٥٠ مل", []string{"Beauty", "Fragrance"}, 12000},
	{"Wireless headphones 🎧", "سماعات لاسلكية 🎧", []string{"Electronics", "Audio"}, 8999},
	{"Dates, 1 kg", "تمر سكري ١ كجم", []string{"Food"}, 1150},
	{"Leather notebook", "دفتر جلد", []string{"Stationery"}, 1875},
	{"Prayer beads", "سبحة كهرمان", nil, 2200},
	{"Desert lamp", "فانوس الصحراء", []string{"Home", "Lighting"}, 5400},
}

var verdicts = map[string][]string{ // worst first
	"en": {"Broke on the second day.", "Not what the picture shows.", "It is all right.", "Good, delivery took a while 📦", "Perfect gift, thank you! 🎁"},
	"ar": {"انكسر ثاني يوم.", "مو مثل الصورة أبداً.", "لا بأس به.", "ممتاز بس التوصيل تأخر 📦", "هدية روعة، شكراً! 🎁"},
}

var pitches = map[string][]string{
	"en": {"Free delivery all week 🚚", "Made by hand, once.", "Your first month is on us.", "Last chance: 40% off"},
	"ar": {"توصيل مجاني طوال الأسبوع 🚚", "صناعة يدوية، قطعة واحدة.", "الشهر الأول علينا.", "الفرصة الأخيرة: خصم ٤٠٪"},
}

var buttons = map[string][]string{
	"en": {"Shop now", "Learn more", "Sign up"},
	"ar": {"تسوّق الآن", "اعرف المزيد", "اشترك"},
}

var gatherings = map[string][]string{
	"en": {"Open mic night 🎤", "Calligraphy workshop", "Startup breakfast", "Desert stargazing", "Book club"},
	"ar": {"أمسية شعرية 🎤", "ورشة خط عربي", "فطور رواد الأعمال", "رصد النجوم في الصحراء", "نادي الكتاب"},
}
