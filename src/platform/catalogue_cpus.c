/* CPUs of servers, desktops and boards. Vendors state cores, channels and base clocks; clocks marked "all-core" are
 * what such machines are known to sustain, not figures of the page that is named. */
#include "platform/catalogue_rows.h"

static const situ_device_kind_info rows[] = {
    CPU_ROW(SITU_FAMILY_CPU, 256, 256, PEAKS(1.3312, 2.6624, 0, 0, 0, 0), "upi", "cpu",
            "generic server CPU, 2 x 16 cores with AVX2",
            "no product: 32 cores x 2.6 GHz x 32 FLOP (2 FMA x 8 lanes x 2); 2 x 6 channels DDR4-2666; 256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 76.8, PEAKS(0.704, 1.408, 0, 0, 0, 0), "upi", "xeon-e5-2698v4",
            "Intel Xeon E5-2698 v4, 20 cores",
            "Intel ARK: 20 cores x 2.2 GHz x 32 FLOP (AVX2); 4 channels DDR4-2400; 256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 192, 140.8, PEAKS(1.6, 3.2, 0, 0, 0, 12.8), "upi", "xeon6248",
            "Intel Xeon Gold 6248, 20 cores",
            "Intel ARK: 20 cores x 2.5 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 6 channels DDR4-2933; 192 GB assumed"),
    CPU_ROW(
        SITU_FAMILY_CPU, 192, 140.8, PEAKS(2.1504, 4.3008, 0, 0, 0, 17.2032), "upi", "xeon8280",
        "Intel Xeon Platinum 8280, 28 cores",
        "Intel ARK: 28 cores x 2.4 GHz (all-core, AVX-512) x 64 FLOP (VNNI x 4); 6 channels DDR4-2933; 192 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 204.8, PEAKS(3.328, 6.656, 0, 0, 0, 26.624), "upi", "xeon8380",
            "Intel Xeon Platinum 8380, 40 cores",
            "Intel ARK: 40 cores x 2.6 GHz (all-core, AVX-512) x 64 FLOP (2 x AVX-512; VNNI x 4); 8 channels "
            "DDR4-3200; 256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU_AMX, 512, 307.2, PEAKS(4.6592, 9.3184, 0, 114.688, 0, 229.376), "upi", "xeon8480",
            "Intel Xeon Platinum 8480+, 56 cores",
            "Intel ARK: 56 cores x 2.6 GHz (all-core, AVX-512) x 64 FLOP; AMX 1024 BF16, 2048 INT8 at 2.0 GHz; 8 "
            "channels DDR5-4800; 512 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU_AMX, 512, 358.4, PEAKS(4.992, 9.984, 0, 122.88, 0, 245.76), "upi", "xeon8580",
            "Intel Xeon Platinum 8580, 60 cores",
            "Intel ARK: 60 cores x 2.6 GHz (all-core, AVX-512) x 64 FLOP; AMX 1024 BF16, 2048 INT8 at 2.0 GHz; 8 "
            "channels DDR5-5600; 512 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU_AMX, 512, 358.4, PEAKS(5.3248, 10.6496, 0, 131.072, 0, 262.144), "upi", "xeon8592",
            "Intel Xeon Platinum 8592+, 64 cores",
            "Intel ARK: 64 cores x 2.6 GHz (all-core, AVX-512) x 64 FLOP; AMX 1024 BF16, 2048 INT8 at 2.0 GHz; 8 "
            "channels DDR5-5600; 512 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU_AMX, 768, 614.4, PEAKS(8.192, 16.384, 0, 262.144, 0, 524.288), "upi", "xeon6980p",
            "Intel Xeon 6980P, 128 cores",
            "Intel ARK: 128 cores x 2.0 GHz x 64 FLOP (2 x AVX-512; AMX 1024 BF16, 2048 INT8); 12 channels DDR5-6400; "
            "768 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 204.8, PEAKS(2.304, 4.608, 0, 0, 0, 0), "xgmi", "epyc7742", "AMD EPYC 7742, 64 cores",
            "AMD EPYC 7742 product page: 64 cores x 2.25 GHz x 32 FLOP (AVX2); 8 channels DDR4-3200; 256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 204.8, PEAKS(2.5088, 5.0176, 0, 0, 0, 0), "xgmi", "epyc7763",
            "AMD EPYC 7763, 64 cores",
            "AMD EPYC 7763 product page: 64 cores x 2.45 GHz x 32 FLOP (AVX2); 8 channels DDR4-3200; 256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 768, 460.8, PEAKS(5.4528, 10.9056, 0, 0, 0, 43.6224), "xgmi", "epyc9654",
            "AMD EPYC 9654, 96 cores",
            "AMD EPYC 9654 product page: 96 cores x 3.55 GHz (all-core) x 32 FLOP (AVX-512 in two halves; VNNI x 4); "
            "12 channels DDR5-4800; 768 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 768, 576, PEAKS(11.0592, 22.1184, 0, 0, 0, 88.4736), "xgmi", "epyc9755",
            "AMD EPYC 9755, 128 cores",
            "AMD EPYC 9755 product page: 128 cores x 2.7 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 12 channels DDR5-6000; "
            "768 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 204.8, PEAKS(1.92, 3.84, 7.68, 0, 0, 15.36), "ethernet-100g", "altra80",
            "Ampere Altra Q80-30, 80 cores",
            "Ampere Altra product brief: 80 cores x 3.0 GHz x 16 FLOP (2 x NEON; FP16 x 2, dot product x 4); 8 "
            "channels DDR4-3200; 256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 307.2, PEAKS(2.6624, 5.3248, 10.6496, 0, 0, 21.2992), "ethernet-100g", "graviton3",
            "AWS Graviton3, 64 cores",
            "AWS: 64 cores x 2.6 GHz x 32 FLOP (2 x SVE of 256 bit; FP16 x 2, dot product x 4); 8 channels DDR5-4800; "
            "256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 768, 537.6, PEAKS(4.3008, 8.6016, 17.2032, 0, 0, 34.4064), "ethernet-100g", "graviton4",
            "AWS Graviton4, 96 cores",
            "AWS: 96 cores x 2.8 GHz x 32 FLOP (4 x SVE2 of 128 bit; FP16 x 2, dot product x 4); 12 channels "
            "DDR5-5600; 768 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 480, 500, PEAKS(3.5712, 7.1424, 14.2848, 0, 0, 28.5696), "ethernet-100g", "grace",
            "NVIDIA Grace, 72 cores",
            "NVIDIA Grace datasheet: 72 Neoverse V2 x 3.1 GHz x 32 FLOP (4 x SVE2 of 128 bit; FP16 x 2, dot product x "
            "4); 500 GB/s"),
    CPU_ROW(SITU_FAMILY_CPU, 16, 51.2, PEAKS(0.1088, 0.2176, 0, 0, 0, 0.8704), "ethernet-10g", "i3-1005g1",
            "Intel Core i3-1005G1, 2 cores",
            "Intel ARK: 2 x 3.4 GHz (turbo) x 32 FLOP (1 x AVX-512; VNNI x 4); 2 channels DDR4-3200; 16 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 32, 42.7, PEAKS(0.3744, 0.7488, 0, 0, 0, 0), "ethernet-10g", "i5-8500",
            "Intel Core i5-8500, 6 cores",
            "Intel ARK: 6 x 3.9 GHz (all-core) x 32 FLOP (AVX2); 2 channels DDR4-2666; 32 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 32, 76.8, PEAKS(0.5856, 1.1712, 0, 0, 0, 4.6848), "ethernet-10g", "i7-12700h",
            "Intel Core i7-12700H, 6 + 8 cores",
            "Intel ARK: 6 x 4.1 GHz x 32 + 8 x 3.0 GHz x 16 FLOP (all-core; AVX2; VNNI x 4); 2 channels DDR5-4800; 32 "
            "GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 93.9, PEAKS(1.4784, 2.9568, 0, 0, 0, 11.8272), "ethernet-10g", "i9-10940x",
            "Intel Core i9-10940X, 14 cores",
            "Intel ARK: 14 x 3.3 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 4 channels DDR4-2933; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 76.8, PEAKS(0.864, 1.728, 0, 0, 0, 6.912), "ethernet-10g", "i9-12900k",
            "Intel Core i9-12900K, 8 + 8 cores",
            "Intel ARK: 8 x 4.9 GHz x 32 + 8 x 3.7 GHz x 16 FLOP (all-core turbo; AVX2; VNNI x 4); 2 channels "
            "DDR5-4800; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 89.6, PEAKS(1.2032, 2.4064, 0, 0, 0, 9.6256), "ethernet-10g", "i9-13900k",
            "Intel Core i9-13900K, 8 + 16 cores",
            "Intel ARK: 8 x 5.3 GHz x 32 + 16 x 4.1 GHz x 16 FLOP (all-core, under full load; AVX2; VNNI x 4); 2 "
            "channels DDR5-5600; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 89.6, PEAKS(1.2032, 2.4064, 0, 0, 0, 9.6256), "ethernet-10g", "i9-14900k",
            "Intel Core i9-14900K, 8 + 16 cores",
            "Intel ARK: 8 x 5.3 GHz x 32 + 16 x 4.1 GHz x 16 FLOP (all-core, under full load; AVX2; VNNI x 4); 2 "
            "channels DDR5-5600; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 32, 89.6, PEAKS(0.4992, 0.9984, 0, 0, 0, 3.9936), "ethernet-10g", "ultra7-165h",
            "Intel Core Ultra 7 165H, 6 + 8 + 2 cores",
            "Intel ARK: 6 x 3.4 GHz x 32 + 8 x 2.7 GHz x 16 FLOP (all-core; AVX2; VNNI x 4); 2 channels DDR5-5600; 32 "
            "GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 102.4, PEAKS(1.8688, 3.7376, 0, 0, 0, 14.9504), "ethernet-10g", "ultra9-285k",
            "Intel Core Ultra 9 285K, 8 + 16 cores",
            "Intel ARK: 8 x 5.4 GHz x 32 + 16 x 4.6 GHz x 32 FLOP (all-core turbo; AVX2; VNNI x 4); 2 channels "
            "DDR5-6400; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 51.2, PEAKS(0.8704, 1.7408, 0, 0, 0, 0), "ethernet-10g", "ryzen-5950x",
            "AMD Ryzen 9 5950X, 16 cores",
            "AMD product page: 16 x 3.4 GHz x 32 FLOP (AVX2); 2 channels DDR4-3200; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 83.2, PEAKS(1.152, 2.304, 0, 0, 0, 9.216), "ethernet-10g", "ryzen-7950x",
            "AMD Ryzen 9 7950X, 16 cores",
            "AMD product page: 16 x 4.5 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 2 channels DDR5-5200; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 89.6, PEAKS(2.2016, 4.4032, 0, 0, 0, 17.6128), "ethernet-10g", "ryzen-9950x",
            "AMD Ryzen 9 9950X, 16 cores",
            "AMD product page: 16 x 4.3 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 2 channels DDR5-5600; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 32, 89.6, PEAKS(0.4864, 0.9728, 0, 0, 0, 3.8912), "ethernet-10g", "ryzen-7840hs",
            "AMD Ryzen 7 7840HS, 8 cores",
            "AMD product page: 8 x 3.8 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 2 channels DDR5-5600; 32 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 166.4, PEAKS(3.2768, 6.5536, 0, 0, 0, 26.2144), "ethernet-10g", "threadripper-7980x",
            "AMD Ryzen Threadripper 7980X, 64 cores",
            "AMD product page: 64 x 3.2 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 4 channels DDR5-5200; 256 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 128, 76.8, PEAKS(0.5376, 1.0752, 0, 0, 0, 0), "upi", "xeon-e5-2680v4",
            "Intel Xeon E5-2680 v4, 14 cores",
            "Intel ARK: 14 cores x 2.4 GHz x 32 FLOP (AVX2); 4 channels DDR4-2400; 128 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 204.8, PEAKS(0.768, 1.536, 0, 0, 0, 0), "xgmi", "epyc7302", "AMD EPYC 7302, 16 cores",
            "AMD EPYC 7302 product page: 16 cores x 3.0 GHz x 32 FLOP (AVX2); 8 channels DDR4-3200; 256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 768, 460.8, PEAKS(3.1744, 6.3488, 0, 0, 0, 25.3952), "xgmi", "epyc9554",
            "AMD EPYC 9554, 64 cores",
            "AMD EPYC 9554 product page: 64 cores x 3.1 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 12 channels "
            "DDR5-4800; 768 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 768, 576, PEAKS(3.6352, 7.2704, 0, 0, 0, 29.0816), "xgmi", "epyc9355",
            "AMD EPYC 9355, 32 cores",
            "AMD EPYC 9355 product page: 32 cores x 3.55 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 12 channels DDR5-6000; "
            "768 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 93.9, PEAKS(1.184, 2.368, 0, 0, 0, 9.472), "ethernet-10g", "i9-10900x",
            "Intel Core i9-10900X, 10 cores",
            "Intel ARK: 10 x 3.7 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 4 channels DDR4-2933; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 128, 85.3, PEAKS(1.4976, 2.9952, 0, 0, 0, 0), "ethernet-10g", "i9-7980xe",
            "Intel Core i9-7980XE, 18 cores",
            "Intel ARK: 18 x 2.6 GHz x 64 FLOP (2 x AVX-512); 4 channels DDR4-2666; 128 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 76.8, PEAKS(0.4448, 0.8896, 0, 0, 0, 3.5584), "ethernet-10g", "i5-12600k",
            "Intel Core i5-12600K, 6 + 4 cores",
            "Intel ARK: 6 x 3.7 GHz x 32 FLOP + 4 x 2.8 GHz x 16 FLOP (AVX2; VNNI x 4); 2 channels DDR5-4800; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 76.8, PEAKS(0.5472, 1.0944, 0, 0, 0, 4.3776), "ethernet-10g", "i7-12700k",
            "Intel Core i7-12700K, 8 + 4 cores",
            "Intel ARK: 8 x 3.6 GHz x 32 FLOP + 4 x 2.7 GHz x 16 FLOP (AVX2; VNNI x 4); 2 channels DDR5-4800; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 89.6, PEAKS(0.5024, 1.0048, 0, 0, 0, 4.0192), "ethernet-10g", "i5-13600k",
            "Intel Core i5-13600K, 6 + 8 cores",
            "Intel ARK: 6 x 3.5 GHz x 32 FLOP + 8 x 2.6 GHz x 16 FLOP (AVX2; VNNI x 4); 2 channels DDR5-5600; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 89.6, PEAKS(0.5952, 1.1904, 0, 0, 0, 4.7616), "ethernet-10g", "i7-13700k",
            "Intel Core i7-13700K, 8 + 8 cores",
            "Intel ARK: 8 x 3.4 GHz x 32 FLOP + 8 x 2.5 GHz x 16 FLOP (AVX2; VNNI x 4); 2 channels DDR5-5600; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 89.6, PEAKS(0.6752, 1.3504, 0, 0, 0, 5.4016), "ethernet-10g", "i7-14700k",
            "Intel Core i7-14700K, 8 + 12 cores",
            "Intel ARK: 8 x 3.4 GHz x 32 FLOP + 12 x 2.5 GHz x 16 FLOP (AVX2; VNNI x 4); 2 channels DDR5-5600; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 51.2, PEAKS(0.3456, 0.6912, 0, 0, 0, 0), "ethernet-10g", "ryzen-3600",
            "AMD Ryzen 5 3600, 6 cores",
            "AMD product page: 6 x 3.6 GHz x 32 FLOP (AVX2); 2 channels DDR4-3200; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 51.2, PEAKS(0.7296, 1.4592, 0, 0, 0, 0), "ethernet-10g", "ryzen-3900x",
            "AMD Ryzen 9 3900X, 12 cores",
            "AMD product page: 12 x 3.8 GHz x 32 FLOP (AVX2); 2 channels DDR4-3200; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 51.2, PEAKS(0.4352, 0.8704, 0, 0, 0, 0), "ethernet-10g", "ryzen-5700x",
            "AMD Ryzen 7 5700X, 8 cores",
            "AMD product page: 8 x 3.4 GHz x 32 FLOP (AVX2); 2 channels DDR4-3200; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 51.2, PEAKS(0.7104, 1.4208, 0, 0, 0, 0), "ethernet-10g", "ryzen-5900x",
            "AMD Ryzen 9 5900X, 12 cores",
            "AMD product page: 12 x 3.7 GHz x 32 FLOP (AVX2); 2 channels DDR4-3200; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 83.2, PEAKS(0.4512, 0.9024, 0, 0, 0, 3.6096), "ethernet-10g", "ryzen-7600x",
            "AMD Ryzen 5 7600X, 6 cores",
            "AMD product page: 6 x 4.7 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 2 channels DDR5-5200; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 83.2, PEAKS(0.9024, 1.8048, 0, 0, 0, 7.2192), "ethernet-10g", "ryzen-7900x",
            "AMD Ryzen 9 7900X, 12 cores",
            "AMD product page: 12 x 4.7 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 2 channels DDR5-5200; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 512, 204.8, PEAKS(1.2288, 2.4576, 0, 0, 0, 0), "xgmi", "epyc7532",
            "AMD EPYC 7532, 32 cores",
            "AMD product page: 32 x 2.4 GHz x 32 FLOP (AVX2); 8 channels DDR4-3200; 512 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 32, 51.2, PEAKS(0.4608, 0.9216, 0, 0, 0, 0), "ethernet-10g", "ryzen-3700x",
            "AMD Ryzen 7 3700X, 8 cores",
            "AMD product page: 8 x 3.6 GHz x 32 FLOP (AVX2); 2 channels DDR4-3200; 32 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 32, 51.2, PEAKS(0.3552, 0.7104, 0, 0, 0, 0), "ethernet-10g", "ryzen-5600x",
            "AMD Ryzen 5 5600X, 6 cores",
            "AMD product page: 6 x 3.7 GHz x 32 FLOP (AVX2); 2 channels DDR4-3200; 32 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 51.2, PEAKS(0.4352, 0.8704, 0, 0, 0, 0), "ethernet-10g", "ryzen-5800x3d",
            "AMD Ryzen 7 5800X3D, 8 cores",
            "AMD product page: 8 x 3.4 GHz x 32 FLOP (AVX2); 2 channels DDR4-3200; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 83.2, PEAKS(0.576, 1.152, 0, 0, 0, 4.608), "ethernet-10g", "ryzen-7700x",
            "AMD Ryzen 7 7700X, 8 cores",
            "AMD product page: 8 x 4.5 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 2 channels DDR5-5200; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 83.2, PEAKS(0.5376, 1.0752, 0, 0, 0, 4.3008), "ethernet-10g", "ryzen-7800x3d",
            "AMD Ryzen 7 7800X3D, 8 cores",
            "AMD product page: 8 x 4.2 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 2 channels DDR5-5200; 64 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 89.6, PEAKS(1.2032, 2.4064, 0, 0, 0, 9.6256), "ethernet-10g", "ryzen-9800x3d",
            "AMD Ryzen 7 9800X3D, 8 cores",
            "AMD product page: 8 x 4.7 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 2 channels DDR5-5600; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 89.6, PEAKS(1.6896, 3.3792, 0, 0, 0, 13.5168), "ethernet-10g", "ryzen-9900x",
            "AMD Ryzen 9 9900X, 12 cores",
            "AMD product page: 12 x 4.4 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 2 channels DDR5-5600; 64 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 128, 256, PEAKS(1.536, 3.072, 0, 0, 0, 12.288), "ethernet-10g", "ryzen-ai-max-395",
            "AMD Ryzen AI Max+ 395, its CPU, 16 cores",
            "AMD product page: 16 x 3.0 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 256-bit LPDDR5x-8000; 128 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 256, 102.4, PEAKS(1.8944, 3.7888, 0, 0, 0, 0), "ethernet-10g", "threadripper-3970x",
            "AMD Ryzen Threadripper 3970X, 32 cores",
            "AMD product page: 32 x 3.7 GHz x 32 FLOP (AVX2); 4 channels DDR4-3200; 256 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 512, 332.8, PEAKS(3.84, 7.68, 0, 0, 0, 30.72), "ethernet-10g", "threadripper-7995",
            "AMD Ryzen Threadripper PRO 7995WX, 96 cores",
            "AMD product page: 96 x 2.5 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 8 channels DDR5-5200; 512 GB "
            "assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 16, 68.25, PEAKS(0.2048, 0.4096, 0.8192, 0, 0, 1.6384), "ethernet-10g", "m1-cpu",
            "Apple M1, its CPU",
            "4 performance cores x 3.2 GHz x 32 FLOP (4 x NEON; FP16 x 2, dot product x 4), without the matrix unit; "
            "Apple: 68.25 GB/s"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 400, PEAKS(0.4096, 0.8192, 1.6384, 0, 0, 3.2768), "ethernet-10g", "m1-max-cpu",
            "Apple M1 Max, its CPU",
            "8 performance cores x 3.2 GHz x 32 FLOP (4 x NEON; FP16 x 2, dot product x 4), without the matrix unit; "
            "Apple: 400 GB/s"),
    CPU_ROW(SITU_FAMILY_CPU, 24, 100, PEAKS(0.224, 0.448, 0.896, 0, 0, 1.792), "ethernet-10g", "m2-cpu",
            "Apple M2, its CPU",
            "4 performance cores x 3.5 GHz x 32 FLOP (4 x NEON; FP16 x 2, dot product x 4), without the matrix unit; "
            "Apple: 100 GB/s"),
    CPU_ROW(SITU_FAMILY_CPU, 192, 800, PEAKS(0.896, 1.792, 3.584, 0, 0, 7.168), "ethernet-10g", "m2-ultra-cpu",
            "Apple M2 Ultra, its CPU",
            "16 performance cores x 3.5 GHz x 32 FLOP (4 x NEON; FP16 x 2, dot product x 4), without the matrix unit; "
            "Apple: 800 GB/s"),
    CPU_ROW(SITU_FAMILY_CPU, 128, 400, PEAKS(0.7776, 1.5552, 3.1104, 0, 0, 6.2208), "ethernet-10g", "m3-max-cpu",
            "Apple M3 Max, its CPU",
            "12 performance cores x 4.05 GHz x 32 FLOP (4 x NEON; FP16 x 2, dot product x 4), without the matrix unit; "
            "Apple: 400 GB/s"),
    CPU_ROW(SITU_FAMILY_CPU, 32, 120, PEAKS(0.2816, 0.5632, 1.1264, 0, 0, 2.2528), "ethernet-10g", "m4-cpu",
            "Apple M4, its CPU",
            "4 performance cores x 4.4 GHz x 32 FLOP (4 x NEON; FP16 x 2, dot product x 4), without the matrix unit; "
            "Apple: 120 GB/s"),
    CPU_ROW(SITU_FAMILY_CPU, 128, 546, PEAKS(0.864, 1.728, 3.456, 0, 0, 6.912), "ethernet-10g", "m4-max-cpu",
            "Apple M4 Max, its CPU",
            "12 performance cores x 4.5 GHz x 32 FLOP (4 x NEON; FP16 x 2, dot product x 4), without the matrix unit; "
            "Apple: 546 GB/s"),
    CPU_ROW(SITU_FAMILY_CPU, 32, 135, PEAKS(0.6528, 1.3056, 2.6112, 0, 0, 5.2224), "ethernet-10g", "snapdragon-x-elite",
            "Qualcomm Snapdragon X Elite, 12 cores",
            "Qualcomm product brief: 12 Oryon cores x 3.4 GHz x 32 FLOP (4 x NEON; FP16 x 2, dot product x 4); LPDDR5x "
            "135 GB/s; 32 GB assumed"),
    CPU_ROW(SITU_FAMILY_CPU, 64, 204.8, PEAKS(0.2112, 0.4224, 0, 0, 0, 0), "ethernet-10g", "orin-cpu",
            "Jetson AGX Orin 64 GB, its CPU",
            "NVIDIA Jetson AGX Orin datasheet: 12 x Cortex-A78AE x 2.2 GHz x 16 FLOP (2 x NEON); LPDDR5 204.8 GB/s"),
    CPU_ROW(
        SITU_FAMILY_CPU, 8, 17.1, PEAKS(0.0768, 0.1536, 0.3072, 0, 0, 0), "ethernet-1g", "rpi5", "Raspberry Pi 5, 8 GB",
        "Raspberry Pi 5 product brief: 4 x Cortex-A76 x 2.4 GHz x 16 FLOP (2 x NEON; FP16 x 2); LPDDR4X-4267, 32 bit"),
};

const catalogue_table catalogue_cpus = {rows, sizeof rows / sizeof rows[0]};
